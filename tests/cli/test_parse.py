"""``coalface parse``."""

import json

import pytest

from coalface.cli import screen
from coalface.data.formats.conllu import read_trees
from coalface.structured import DependencyParser
from tests.cli.commands import refused, run
from tests.structured.made_trees import sentences


def conllu(trees, *, heads=True):
    """The text of a CoNLL-U file, with a comment before each sentence."""
    blocks = []
    for number, tree in enumerate(trees):
        lines = [f"# sent_id = {number}"]
        for word, (form, tag, head, label) in enumerate(
            zip(tree.words, tree.tags, tree.heads, tree.labels, strict=True), start=1
        ):
            arc = [str(head), label] if heads else ["_", "_"]
            lines.append("\t".join([str(word), form, "_", tag, "_", "_", *arc, "_", "note=kept"]))
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").write_text(conllu(sentences(60)))
    (tmp_path / "test.conllu").write_text(conllu(sentences(20, seed=1)))
    (tmp_path / "words.conllu").write_text(conllu(sentences(20, seed=1), heads=False))
    return tmp_path


def test_the_three_verbs_equal_the_library(folder, capsys):
    code, out, _ = run(capsys, "parse train train.conllu --model m.coal --passes 2 --warm-up 5")
    parser = DependencyParser(passes=2, warm_up=5).fit(read_trees("train.conllu"))
    assert code == 0
    assert (
        f"60 sentences, {sum(map(len, sentences(60))):,} words, 7 labels, 2 passes; {parser.costs_paid_:,} costs" in out
    )
    predicted = parser.predict(read_trees("test.conllu"))
    for file in ("test.conllu", "words.conllu"):
        code, out, _ = run(capsys, f"parse predict m.coal {file}")
        assert code == 0
        assert out.rstrip() == conllu(predicted).rstrip()
    code, out, _ = run(capsys, "parse evaluate m.coal test.conllu")
    found, scores = json.loads(out), parser.score(read_trees("test.conllu"))
    assert code == 0
    assert (found["uas"], found["las"]) == scores
    assert (found["uas_without_punctuation"], found["las_without_punctuation"]) == scores  # there is none
    assert (found["costs_in_training"], found["sentences"]) == (parser.costs_paid_, 20)


def test_a_saved_parser_goes_on_and_is_not_overwritten(folder, capsys):
    run(capsys, "parse train train.conllu --model m.coal --passes 1")
    code, _, err = run(capsys, "parse train test.conllu --model m.coal")
    assert code == 2
    assert "m.coal exists already. Pass --continue" in err
    code, out, _ = run(capsys, "parse train test.conllu --model m.coal --continue --json")
    line = json.loads(out)
    assert (code, line["passes"], line["sentences"]) == (0, 1, 20)
    assert 0 < line["costs"] < line["costs_in_all"]
    assert DependencyParser.load("m.coal").sentences_ == 80
    code, _, err = run(capsys, "parse train test.conllu --model m.coal --continue --system arc-eager")
    assert code == 2
    assert "--continue" in err


def test_subtypes_are_learned_on_request(folder, capsys):
    (folder / "fine.conllu").write_text((folder / "train.conllu").read_text().replace("\tdet\t", "\tdet:x\t"))
    run(capsys, "parse train fine.conllu --model fine.coal --passes 1 --subtypes")
    run(capsys, "parse train fine.conllu --model coarse.coal --passes 1")
    assert "det:x" in DependencyParser.load("fine.coal").labels_
    assert "det" in DependencyParser.load("coarse.coal").labels_
    assert "\tdet:x\t" in run(capsys, "parse predict fine.coal words.conllu")[1]


def test_mistakes_are_one_line(folder, capsys):
    code, _, err = run(capsys, "parse train words.conllu --model m.coal")
    assert code == 2
    assert "words.conllu, line 2: a head must be a number from 0 to" in err
    code, _, err = run(capsys, "parse train train.conllu --model m.coal --system swap")
    assert code == 2
    assert "system must be one of 'arc-hybrid', 'arc-eager', got 'swap'" in err
    assert not (folder / "m.coal").exists()


def test_words_without_tags_and_arcs_without_labels_are_refused(folder, capsys):
    run(capsys, "parse train train.conllu --model m.coal --passes 1")
    text, before = (folder / "test.conllu").read_text(), (folder / "m.coal").read_bytes()
    (folder / "untagged.conllu").write_text(text.replace("\tVERB\t", "\t_\t"))
    (folder / "unlabelled.conllu").write_text(text.replace("\troot\t", "\t_\t"))
    verb = 1 + text.splitlines().index(next(line for line in text.splitlines() if "\tVERB\t" in line))
    tag, label = "every word must have a tag (UPOS or XPOS), got '_'", "a word with a head must have a label, got '_'"
    for command in ("train {} --model new.coal", "train {} --model m.coal --continue", "evaluate m.coal {}"):
        for file, rule in (("untagged.conllu", tag), ("unlabelled.conllu", label)):
            assert f"{file}, line {verb}: {rule}" in refused(capsys, "parse " + command.format(file))
    assert f"untagged.conllu, line {verb}: {tag}" in refused(capsys, "parse predict m.coal untagged.conllu")
    assert run(capsys, "parse predict m.coal unlabelled.conllu")[0] == 0  # predicting reads no labels
    assert (folder / "m.coal").read_bytes() == before
    assert not (folder / "new.coal").exists()


def test_a_log_says_what_is_counted_and_what_was_paid(folder, capsys, monkeypatch):
    monkeypatch.setattr(screen, "QUIET_SECONDS", 0.0)
    _, out, err = run(capsys, "parse train train.conllu --model m.coal --passes 2 --json")
    lines, paid = err.splitlines(), json.loads(out)["costs"]
    assert lines[-1] == f"Learning sentences in 2 passes, {paid:,} costs paid: 120 of 120"
    costs = [int(line.split()[5].replace(",", "")) for line in lines]
    assert costs == sorted(costs)
    assert costs[0] > 0
