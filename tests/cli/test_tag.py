"""``coalface tag``."""

import json

import pytest

from coalface.search import SequenceTagger
from tests.cli.commands import json_lines, run
from tests.search.made_sentences import made


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
    assert f"120 sentences, {2 * sum(map(len, made(60)[0])):,} words, 5 tags; {tagger.rollouts_:,} roll-outs" in out
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
    assert (found["rollouts"], found["sentences"]) == (tagger.rollouts_, 20)


def test_a_saved_tagger_goes_on_and_is_not_overwritten(folder, capsys):
    run(capsys, "tag train train.conll --model m.coal")
    code, _, err = run(capsys, "tag train test.conll --model m.coal")
    assert code == 2
    assert "m.coal exists already. Pass --continue" in err
    assert run(capsys, "tag train test.conll --model m.coal --continue")[0] == 0
    assert SequenceTagger.load("m.coal").sentences_ == 80


@pytest.mark.parametrize(
    ("command", "text", "message"),
    [
        ("tag train bad.conll --model m.coal", "The D\ncat\n", "bad.conll, line 2: every word must have 2 columns"),
        ("tag train bad.conll --model m.coal", "", "must hold at least one sentence"),
        ("tag train bad.conll --model m.coal --constraints bio", "The D\n", "B-KIND"),
        ("tag train bad.conll --model m.coal --constraints iob", "The D\n", "--constraints must be None, 'bio'"),
        ("tag train bad.conll --model m.coal --history 99", "The D\ncat N\n", "--history must be at most"),
        ("tag evaluate nothing.coal bad.conll", "The D\n", "nothing.coal"),
        ("tag train train.conll --continue --model known.coal", "", "Unknown label"),
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
