"""A tagger's budget, its abstaining, and repaired tags."""

import json

import pytest

from coalface import Abstain, Budget, CoalClassifier
from coalface.errors import InputError, UnlearnedWarning
from coalface.structured import SequenceTagger
from coalface.structured.tagging.spans import repaired, spans_of
from tests.cli.commands import refused, run
from tests.structured.made_sentences import made


@pytest.mark.filterwarnings("ignore::coalface.errors.UnlearnedWarning")
@pytest.mark.parametrize("budget", [40, 300, Budget(costs=300), {"costs": 300}])
def test_a_budget_is_kept_and_spread_even_if_the_warm_up_would_take_it_all(budget, tmp_path):
    sentences, tags = made(300)
    amount = budget if isinstance(budget, int) else 300
    tagger = SequenceTagger(budget=budget, warm_up=100)
    spent = []
    tagger.fit(sentences, tags, progress=lambda _done, _total, rollouts: spent.append(rollouts))
    assert amount / 2 < tagger.rollouts_ <= amount
    tagger.save(tmp_path / "a.coal")
    loaded = SequenceTagger.load(tmp_path / "a.coal")
    assert loaded.predict(sentences) == tagger.predict(sentences)
    loaded.partial_fit(sentences, tags)
    assert loaded.rollouts_ <= amount


def test_a_budget_larger_than_the_warm_up_learns_as_much_as_it_buys():
    sentences, tags = made(300)
    with pytest.warns(UnlearnedWarning, match="Raise the budget"):
        few = SequenceTagger(budget=60).fit(sentences, tags)
    more = SequenceTagger(budget=900).fit(sentences, tags)
    assert more.score(*made(100, seed=1)) > few.score(*made(100, seed=1))


def test_bad_budgets_are_refused():
    for budget, message in ((-1, "budget must be"), ("many", "budget must be"), ({"over": 3}, "exactly one of")):
        with pytest.raises(InputError, match=message):
            SequenceTagger(budget=budget).fit(*made(3))


def test_a_word_whose_tags_are_all_too_costly_gets_none():
    sentences, tags = [["sure", "coin"]] * 200, [["A", "B"], ["A", "C"]] * 100
    silent = CoalClassifier(abstain=Abstain(0.3))
    tagger = SequenceTagger(policy=CoalClassifier(abstain=Abstain(0.3, label="?"))).fit(sentences, tags)
    assert tagger.predict([["sure", "coin"]]) == [["A", "?"]]
    assert tagger.score(sentences[:2], tags[:2]) == 0.5
    assert SequenceTagger(policy=silent).fit(sentences, tags).predict([["sure", "coin"]]) == [["A", None]]
    with pytest.raises(InputError, match="abstain label must differ from every label"):
        SequenceTagger(policy=CoalClassifier(abstain=Abstain(0.3, label="A"))).fit(sentences, tags)


@pytest.mark.parametrize("scheme", ["bio", "bilou"])
def test_repaired_tags_are_legal_and_mean_the_same_spans(scheme):
    messy = [["I-PER", "O", "B-LOC", "I-PER"], ["O", "I-LOC", "I-LOC"], ["B-PER", "L-PER", "U-LOC", "I-LOC"]]
    mended = [repaired(tags, scheme) for tags in messy]
    assert [spans_of(tags) for tags in mended] == [spans_of(tags) for tags in messy]
    names = [f"{mark}-{kind}" for mark in {"bio": "BI", "bilou": "BILU"}[scheme] for kind in ("PER", "LOC")]
    words = [["w"] * len(tags) for tags in mended]
    SequenceTagger(classes=["O", *names], constraints=scheme, warm_up=1).fit(words, mended)
    assert [repaired(tags, scheme) for tags in mended] == mended


def test_repair_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "messy.conll").write_text("Ada I-PER\nsaw O\n\nit O\nOslo I-LOC\n")
    assert run(capsys, "tag train messy.conll --model m.coal --constraints bio")[0] == 2
    code, out, _ = run(capsys, "tag train messy.conll --model m.coal --constraints bio --repair")
    assert code == 0
    assert "2 tags repaired" in out
    assert SequenceTagger.load("m.coal").classes_.tolist() == ["B-LOC", "B-PER", "O"]
    assert "Or pass --repair" in refused(capsys, "tag train messy.conll --model m.coal --continue")
    code, out, _ = run(capsys, "tag train messy.conll --model m.coal --continue --repair --json")
    assert (code, json.loads(out)["tags_repaired"]) == (0, 2)
    (tmp_path / "unknown.conll").write_text("Ada B-GOD\n")  # repairing does not help here
    assert "--repair" not in refused(capsys, "tag train unknown.conll --model m.coal --continue")
    code, _, err = run(capsys, "tag train messy.conll --model n.coal --repair")
    assert code == 2
    assert "--repair needs --constraints bio or bilou" in err


def test_tags_are_repaired_before_a_tagger_is_evaluated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.conll").write_text("Ada B-PER\nsaw O\n\nit O\nOslo B-LOC\n\n" * 20)
    (tmp_path / "messy.conll").write_text("Ada I-PER\nsaw O\n\nit O\nOslo I-LOC\n\n" * 20)
    run(capsys, "tag train clean.conll --model m.coal --constraints bio")
    messy, mended, clean = (
        json.loads(run(capsys, f"tag evaluate m.coal {words}")[1])
        for words in ("messy.conll", "messy.conll --repair", "clean.conll")
    )
    assert messy["accuracy"] == 0.5
    assert mended == {**clean, "tags_repaired": 40}
    assert mended["accuracy"] == 1.0


def test_repairing_needs_a_tagger_that_says_what_is_legal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conll").write_text("Ada I-PER\nsaw O\n")
    run(capsys, "tag train a.conll --model free.coal")
    for command in ("evaluate free.coal a.conll --repair", "train a.conll --model free.coal --continue --repair"):
        assert "--repair needs a tagger with constraints, which say what is legal; free.coal has none" in refused(
            capsys, f"tag {command}"
        )


def test_a_budget_on_the_command_line_covers_all_passes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sentences, tags = made(100)
    blocks = ["".join(f"{w}\t{t}\n" for w, t in zip(*pair, strict=True)) for pair in zip(sentences, tags, strict=True)]
    (tmp_path / "train.conll").write_text("\n".join(blocks))
    code, out, _ = run(capsys, "tag train train.conll --model m.coal --budget 200 --passes 2 --json")
    line = json.loads(out)
    assert code == 0
    assert 100 < line["rollouts"] <= 200
    assert line["rollouts_of_passive"] == line["words"] * line["tags"]
