"""``coalface tag``."""

import json

import pytest

from coalface.structured import SequenceTagger
from tests.cli.commands import json_lines, run
from tests.structured.made_sentences import made


def conll(sentences, tags):
    lines = ["".join(f"{w}\t{t}\n" for w, t in zip(*pair, strict=True)) for pair in zip(sentences, tags, strict=True)]
    return "\n".join(lines)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conll").write_text(conll(*made(60)))
    (tmp_path / "test.conll").write_text(conll(*made(20, seed=1)))
    (tmp_path / "words.conll").write_text("\n".join("".join(f"{w}\n" for w in words) for words in made(20, seed=1)[0]))
    return tmp_path


def test_the_three_verbs_equal_the_library(folder, capsys):
    code, out, _ = run(capsys, "tag train train.conll --model m.coal --constraints bio --passes 2 --warm-up 5")
    tagger = SequenceTagger(constraints="bio", passes=2, warm_up=5).fit(*made(60))
    assert code == 0
    n_words = sum(map(len, made(60)[0]))
    size = f"60 sentences, {n_words:,} words, 5 tags, 2 passes"
    assert f"{size}; {tagger.rollouts_:,} roll-outs; passive runs {5 * n_words:,}" in out
    test = made(20, seed=1)
    for file in ("test.conll", "words.conll"):
        code, out, _ = run(capsys, f"tag predict m.coal {file}")
        lines = json_lines(out)
        assert code == 0
        assert [line["sentence"] for line in lines] == list(range(20))
        assert [line["words"] for line in lines] == test[0]
        assert [line["tags"] for line in lines] == tagger.predict(test[0])
    code, out, _ = run(capsys, "tag evaluate m.coal test.conll")
    found = json.loads(out)
    assert code == 0
    assert (found["accuracy"], found["span_f1"]) == (tagger.score(*test), tagger.span_f1(*test))
    assert (found["rollouts_in_training"], found["sentences"]) == (tagger.rollouts_, 20)


def test_a_saved_tagger_goes_on_and_is_not_overwritten(folder, capsys):
    run(capsys, "tag train train.conll --model m.coal")
    code, _, err = run(capsys, "tag train test.conll --model m.coal")
    assert code == 2
    assert "m.coal exists already. Pass --continue" in err
    assert run(capsys, "tag train test.conll --model m.coal --continue")[0] == 0
    assert SequenceTagger.load("m.coal").sentences_ == 80
    code, out, _ = run(capsys, "tag train test.conll --model m.coal --continue --passes 2 --json")
    line = json.loads(out)
    tagger = SequenceTagger.load("m.coal")
    assert (code, line["passes"], line["sentences"], line["rollouts_in_all"]) == (0, 2, 20, tagger.rollouts_)
    assert tagger.sentences_ == 120
    assert 0 < line["rollouts"] < line["rollouts_in_all"]


@pytest.mark.parametrize(
    "given", ["--constraints bilou", "--seed 1", "--classes D,N", "--warm-up 3", "--mellowness 0.5"]
)
def test_settings_cannot_change_when_going_on(folder, capsys, given):
    run(capsys, "tag train train.conll --model m.coal")
    before = (folder / "m.coal").read_bytes()
    code, _, err = run(capsys, f"tag train test.conll --model m.coal --continue {given}")
    assert code == 2
    assert f"{given.split()[0]} cannot change with --continue" in err
    assert (folder / "m.coal").read_bytes() == before


def test_mistakes_can_have_costs(folder, capsys):
    (folder / "rose.conll").write_text("Rose NAME\n\n" + "Rose O\n\n" * 2 + ("Rose NAME\n\n" + "Rose O\n\n" * 2) * 60)
    (folder / "costs.csv").write_text("truth,O,NAME\nO,0,0.1\nNAME,1,0\n")
    for option, tag in (
        ("", "O"),
        ("--cost-matrix costs.csv", "NAME"),
        ("--cost-matrix costs.csv --classes O,NAME", "NAME"),
    ):
        assert run(capsys, f"tag train rose.conll --model m.coal {option}")[0] == 0
        assert json_lines(run(capsys, "tag predict m.coal rose.conll")[1])[0]["tags"] == [tag]
        (folder / "m.coal").unlink()


def test_one_is_not_many(folder, capsys):
    (folder / "one.conll").write_text("The D\n")
    out = run(capsys, "tag train one.conll --model m.coal --classes D,N")[1]
    assert "1 sentence, 1 word, 2 tags, 1 pass; 2 roll-outs; passive runs 2" in out


@pytest.mark.parametrize(
    ("command", "text", "message"),
    [
        ("tag train bad.conll --model m.coal", "The D\ncat\n", "bad.conll, line 2: every word must have 2 columns"),
        ("tag train bad.conll --model m.coal", "", "must hold at least one sentence"),
        ("tag train bad.conll --model m.coal --constraints bio", "The D\n", "B-KIND"),
        ("tag train bad.conll --model m.coal --constraints iob", "The D\n", "--constraints must be"),
        ("tag train bad.conll --model m.coal --history 99", "The D\ncat N\n", "--history must be at most"),
        ("tag evaluate nothing.coal bad.conll", "The D\n", "nothing.coal"),
        (
            "tag train bad.conll --continue --model known.coal",
            "# a\nThe D\n\nA D\ncat X\n",
            "bad.conll, line 5: tag 'X' is not allowed here. Unknown label 'X'",
        ),
        (
            "tag train bad.conll --model m.coal --constraints bio",
            "Ada B-PER\nsaw O\n\n\nit O\nOslo I-LOC\n",
            "bad.conll, line 6: tag 'I-LOC' is not allowed here. Tags must obey constraints='bio'. Correct the "
            "tags, or train without constraints. Or pass --repair to make the tags legal.",
        ),
        ("tag train bad.conll --model m.coal --constraints bilou", "a B-X\n", "On the command line: --classes."),
        ("tag train bad.conll --model m.coal --classes D,D", "The D\n", "--classes must be distinct"),
        ("tag train bad.conll --model m.coal --tag 7", "The D\n", "a line with 2 columns has no column 7 for tags"),
        ("tag train bad.conll --model m.coal --passes 0", "The D\n", "--passes must be a whole number"),
    ],
)
def test_bad_input_is_one_line_and_saves_nothing(folder, capsys, command, text, message):
    (folder / "bad.conll").write_text(text)
    SequenceTagger().fit([["The", "cat"]], [["D", "N"]]).save("known.coal")
    before = (folder / "known.coal").read_bytes()
    code, out, err = run(capsys, command)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert not (folder / "m.coal").exists()
    assert (folder / "known.coal").read_bytes() == before
