"""The compiled dependency parser: what it learns, what it pays for, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.data.formats.conllu import Tree
from coalface.errors import FileFormatError, InputError
from coalface.kernels.state import WEIGHT
from coalface.learner.state import NotFittedError
from coalface.structured import DependencyParser, ParsingTask, SearchLearner
from coalface.structured.parsing.runs import Averages, weights_of
from tests.structured.made_trees import sentences

SYSTEMS = ["arc-hybrid", "arc-eager"]


def bare(trees):
    return [replace(tree, heads=(), labels=()) for tree in trees]


@pytest.fixture(scope="module")
def parser():
    return DependencyParser(passes=2).fit(sentences(120))


@pytest.mark.parametrize("system", SYSTEMS)
def test_trees_are_learned_from_few_costs(system):
    train, test = list(sentences(120)), list(sentences(60, seed=1))
    parser = DependencyParser(system, passes=2).fit(train)
    passive = DependencyParser(system, CoalClassifier(rule="passive", mellowness=0.5), passes=2).fit(train)
    assert parser.costs_paid_ < passive.costs_paid_ / 2
    for each in (parser, passive):
        scores = each.score(test)
        assert scores.unlabelled > 0.95
        assert scores.labelled > 0.93


def test_true_heads_are_not_used_for_a_prediction(parser):
    test = list(sentences(20, seed=1))
    wrong = [
        replace(tree, heads=(0, *range(1, len(tree))), labels=("root", *["obj"] * (len(tree) - 1))) for tree in test
    ]
    assert parser.predict(bare(test)) == parser.predict(test) == parser.predict(wrong)
    two_roots = [replace(tree, heads=(0,) * len(tree), labels=()) for tree in test]
    assert parser.predict(two_roots) == parser.predict(test)


def test_every_prediction_is_one_tree_with_known_labels(parser):
    for tree in parser.predict(bare(sentences(40, seed=2))):
        assert list(tree.heads).count(0) == 1
        assert set(tree.labels) <= {*parser.labels_, *parser.root_labels_}
        assert [label == "root" for label in tree.labels] == [head == 0 for head in tree.heads]


def test_a_second_pass_uses_the_costs_of_the_first():
    train = list(sentences(60))
    once = DependencyParser(policy=CoalClassifier(rule="passive"), passes=1, shuffle=False).fit(train)
    twice = DependencyParser(policy=CoalClassifier(rule="passive"), passes=2, shuffle=False).fit(train)
    assert once.costs_paid_ == once.costs_queried_
    assert twice.costs_queried_ > 1.9 * once.costs_queried_
    assert once.costs_paid_ < twice.costs_paid_ < 1.5 * once.costs_paid_  # new are only states that it did not meet


@pytest.mark.parametrize("averaged", [False, True])
def test_a_saved_parser_continues_exactly(tmp_path, averaged):
    train, more, test = list(sentences(30)), list(sentences(30, seed=1)), bare(sentences(20, seed=2))
    parser = DependencyParser(passes=1, averaged=averaged).fit(train)
    parser.save(tmp_path / "a.coal")
    loaded = DependencyParser.load(tmp_path / "a.coal")
    assert loaded.get_params() == parser.get_params()
    assert loaded.labels_.tolist() == ["case", "det", "nmod", "nsubj", "obj", "obl"]
    assert loaded.predict(test) == parser.predict(test)
    for each in (parser, loaded):
        each.partial_fit(more).partial_fit(train)
    assert (loaded.costs_paid_, loaded.sentences_) == (parser.costs_paid_, 90)
    for name, array in parser.policy_.model_.arrays().items():
        assert np.array_equal(array, loaded.policy_.model_.arrays()[name]), name
    assert loaded.predict(test) == parser.predict(test)


def test_a_parser_keeps_the_system_that_it_learned(tmp_path):
    train, test = list(sentences(30)), bare(sentences(20, seed=2))
    parser = DependencyParser(passes=1).fit(train)
    found = parser.predict(test)
    parser.set_params(system="arc-hybrid", hash_bits=9)
    assert parser.predict(test) == found
    parser.save(tmp_path / "a.coal")
    assert DependencyParser.load(tmp_path / "a.coal").predict(test) == found
    with pytest.raises(
        InputError, match="system must stay 'arc-eager', with which this parser learned, got 'arc-hybrid'"
    ):
        parser.partial_fit(train)
    parser.set_params(system="arc-eager")
    with pytest.raises(InputError, match="hash_bits must stay 14"):
        parser.partial_fit(train)
    assert parser.fit(train).predict(test)  # fit forgets the system, too


def test_averaged_weights_are_the_mean_of_twenty_moments_of_the_pass():
    train, moments = list(sentences(40)), []
    parser = DependencyParser(averaged=True, warm_up=0)
    parser.partial_fit(train, progress=lambda *_: moments.append(weights_of(parser.policy_.model_)))
    mean = sum(np.pad(one, [(0, len(moments[-1]) - len(one)), (0, 0)]) for one in moments) / 20
    assert len(moments) == 20
    np.testing.assert_allclose(parser._weights, mean, atol=1e-6)


def test_other_files_are_not_loaded(tmp_path):
    (tmp_path / "a.coal").write_bytes(b"no parser")
    with pytest.raises(FileFormatError):
        DependencyParser.load(tmp_path / "a.coal")


def test_a_failed_fit_changes_nothing(parser):
    before = parser.predict(bare(sentences(5, seed=3)))
    with pytest.raises(InputError, match="Tree 1: exactly one word must have head 0"):
        parser.fit([next(sentences(1)), Tree(("a", "b"), ("X", "X"), (0, 0), ("root", "root"))])
    assert parser.predict(bare(sentences(5, seed=3))) == before


def test_heads_and_parameters_may_be_numpy_numbers():
    trees = list(sentences(20))
    given = [replace(tree, heads=np.array(tree.heads)) for tree in trees]
    plain, found = (
        DependencyParser(passes=1, wrong_label=number(0.5)).fit(each)
        for number, each in ((float, trees), (np.float32, given))
    )
    assert found.predict(trees) == plain.predict(trees)
    assert found.score(given) == plain.score(trees)
    assert SearchLearner(ParsingTask.of(given)).fit(given[:2]).rollouts_ == 0


def test_crossing_arcs_are_learned_as_if_lifted():
    crossing = Tree(("a", "b", "c", "d"), ("A", "B", "C", "D"), (3, 4, 0, 3), ("x", "y", "root", "z"))
    lifted = replace(crossing, heads=(3, 3, 0, 3))
    parser = DependencyParser(passes=1).fit([crossing] * 30)
    assert parser.predict([crossing])[0].heads == lifted.heads
    assert parser.score([crossing]).unlabelled == 0.75


def test_averages_are_over_moments_that_include_the_end():
    """Whether or not new features came since the last moment."""
    model = DependencyParser(passes=1).fit(list(sentences(5))).policy_.model_
    averages, first = Averages(model, 20_000), weights_of(model)
    averages.add(1_000)
    model.arrays()["cells"][:, WEIGHT] += np.float32(1.0)
    averages.add(1_500)
    assert np.array_equal(averages.weights, (first + (first + np.float32(1.0))) / np.float32(2.0))
    assert np.array_equal(averages.weights, averages.weights)


def test_punctuation_counts_unless_told_otherwise(parser):
    tree = next(sentences(1, seed=5))
    words, tags = (*tree.words, "."), (*tree.tags, "PUNCT")
    root = tree.heads.index(0) + 1
    dotted = Tree(words, tags, (*tree.heads, root), (*tree.labels, "punct"))
    assert parser.score([dotted]).labelled < 1.0  # the label is unknown
    assert parser.score([dotted], punctuation=False).labelled >= parser.score([dotted]).labelled


def test_tags_and_morphology_of_the_treebank_are_features():
    plain = Tree(("a", "b"), ("X", "X"), (2, 0), ("dep", "root"))
    cases = [
        (
            replace(plain, **{field: ("p", "q")}),
            replace(plain, heads=(0, 1), labels=("root", "dep"), **{field: ("q", "p")}),
        )
        for field in ("fine_tags", "morphology")
    ]
    for first, second in cases:
        parser = DependencyParser(passes=2).fit([first, second] * 40)
        assert [tree.heads for tree in parser.predict(bare([first, second]))] == [(2, 0), (0, 1)]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"system": "swap"}, "system must be one of 'arc-hybrid', 'arc-eager', got 'swap'"),
        ({"wrong_label": 2}, "wrong_label must be a finite number at least 0 and at most 1, got 2"),
        ({"hash_bits": 25}, "hash_bits must be a whole number of at least 1 and at most 24, got 25"),
        ({"passes": 0}, "passes must be"),
        ({"averaged": "no"}, "averaged must be True or False, got 'no'"),
        ({"shuffle": 2}, "shuffle must be True or False, got 2"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        DependencyParser(**params).fit(sentences(2))


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree((), ()), "must have heads|must have words"),
        (Tree(("a",), ("X",)), "must have heads to be learned"),
        (Tree(("a",), ("X",), (0,), ("root",), fine_tags=("x", "y")), "fine_tags must be one per word, or none"),
        (Tree((7,), ("X",), (0,), ("root",)), "words must be texts in Unicode, got 7 for word 1"),
        (Tree(("a",), (None,), (0,), ("root",)), "tags must be texts in Unicode, got None for word 1"),
        (Tree(("\ud83d",), ("X",), (0,), ("root",)), "words must be texts in Unicode"),
        (("a", "X"), "a sentence must be a Tree, got"),
    ],
)
def test_bad_trees_are_refused(tree, message):
    with pytest.raises(InputError, match=f"Tree 1: .*({message})"):
        DependencyParser().fit([next(sentences(1)), tree])


@pytest.mark.parametrize("trees", ["train.conllu", Path("train.conllu"), None, Tree(("a",), ("X",), (0,), ("root",))])
def test_a_path_in_place_of_trees_is_refused_with_the_function_that_reads_it(parser, trees):
    for call in (DependencyParser().fit, DependencyParser().partial_fit, parser.predict, parser.score):
        with pytest.raises(InputError, match=r"trees must be a list of Tree values, got .* read_trees\(path\) reads"):
            call(trees)


def test_an_unfitted_parser_says_so():
    with pytest.raises(NotFittedError, match="call 'fit'"):
        DependencyParser().predict([])


PAGE = (Path(__file__).parents[2] / "docs" / "parsing.md").read_text(encoding="utf-8")


def test_the_page_explains_every_parameter():
    for name in DependencyParser().get_params():
        assert f"| `{name}` |" in PAGE, name
    assert "`mellowness=0.5`" in PAGE


def test_progress_has_the_costs_paid_so_far_though_their_table_grows():
    reported = []
    parser = DependencyParser(passes=2).fit(list(sentences(600)), lambda *numbers: reported.append(numbers))
    assert reported[-1] == (1200, 1200, parser.costs_paid_)


def test_other_roll_outs_are_refused_before_anything_is_learned():
    with pytest.raises(InputError, match="roll_out of DependencyParser must be one of 'auto', 'reference', 'none'"):
        DependencyParser(roll_out="learned").fit(sentences(3))


def test_different_costs_of_mistakes_are_learned_unless_they_are_all_alike():
    models = [
        DependencyParser(passes=1, wrong_label=w, roll_out=r).fit(sentences(20)).policy_.model_.arrays()["cells"]
        for w, r in [(1.0, "auto"), (0.3, "none"), (0.3, "auto"), (0.3, "reference")]
    ]
    assert np.array_equal(models[0], models[1])  # without roll-outs, it makes no difference what a wrong label costs
    assert np.array_equal(models[2], models[3])
    assert not np.array_equal(models[0], models[2])
