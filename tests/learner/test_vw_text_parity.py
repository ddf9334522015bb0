"""The learner predicts and asks what the VW wheel does on files of VW text, with the settings for each option."""

from dataclasses import dataclass

import numpy as np
import pytest

from coalface import CoalClassifier, OnlineModel, read_dataset, simulate

from .vw_files import costs_text, run_wheel, write_examples


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass
class Run:
    learner: CoalClassifier
    raw: np.ndarray  # (n, K) what was predicted for each example before it was learned
    listed: np.ndarray  # (n, K) the labels that could be predicted
    chosen: np.ndarray  # columns of the predicted labels
    loss: np.ndarray  # what each prediction cost more than the best label; NaN if unknown

    @property
    def queries(self):
        return self.learner.costs_queried_


def published(data, *, largest=1.0, interactions=None, learning_rate=0.5, accumulator="adagrad", **settings):
    """The learner with VW's defaults; mellowness, and AdaGrad's rate, are divided by the largest cost."""
    rate = learning_rate / (largest if accumulator == "adagrad" else 1.0)
    return CoalClassifier.as_published(
        classes=data.classes,
        mellowness=settings.pop("mellowness", 0.1) / largest,
        model=OnlineModel(learning_rate=rate, accumulator=accumulator, interactions=interactions),
        cost_bounds=(0.0, largest),
        **settings,
    )


def run(path, *, passes=1, reading=None, pairs=(), **settings):
    """Predict each example, then ask for its costs and learn them; ``pairs`` are first letters of namespaces."""
    data = read_dataset(path, targets="costs", grouped=bool(pairs), **(reading or {}))
    learner = published(data, interactions=products(pairs, data.feature_names), **settings)
    rows = [row for row, cost in enumerate(data.cost) if not np.isnan(cost).all()]
    candidates = data.candidates
    raw = []
    for _ in range(passes):
        for row in range(len(data)):
            X, allowed = data.X[row : row + 1], None if candidates is None else candidates[row : row + 1]
            raw.append(learner.predict_cost(X)[0])
            if row in rows:
                mask = learner.ask(X, candidates=allowed).mask
                learner.tell(X, np.where(mask, data.cost[row], np.nan), asked=mask, candidates=allowed)
    again = published(data, interactions=products(pairs, data.feature_names), **settings)
    simulate(again, data.X, data.cost, candidates=candidates, order=rows * passes)
    assert again.costs_queried_ == learner.costs_queried_
    raw = np.array(raw)
    listed = np.ones(raw.shape, bool) if candidates is None else np.tile(candidates, (passes, 1))
    cost = np.where(listed, np.tile(data.cost, (passes, 1)), np.nan)
    chosen = np.where(listed, raw, np.inf).argmin(axis=1)
    best = np.where(np.isnan(cost), np.inf, cost).min(axis=1)
    return Run(learner, raw, listed, chosen, cost[np.arange(len(cost)), chosen] - best)


def products(pairs, names):
    """The column ranges of the namespaces of each pair of letters, as ``OnlineModel`` takes them."""
    if not pairs:
        return None
    letters = [name[0] for name in names]
    ranges = {letter: (letters.index(letter), letters.index(letter) + letters.count(letter)) for letter in "ab"}
    return [tuple(sorted((ranges[one], ranges[other]))) for one, other in pairs]


def assert_same(ours, wheel):
    labels = ours.learner.classes_
    assert [str(labels[column]) for column in ours.chosen] == [line.split()[0] for line in wheel.chosen]
    for row, theirs in enumerate(wheel.raw):
        if theirs:  # VW writes no costs for a line without labels
            columns = np.flatnonzero(ours.listed[row])
            assert [str(labels[column]) for column in columns] == list(theirs)
            np.testing.assert_allclose(ours.raw[row, columns], list(theirs.values()), atol=2e-5)
    assert np.nanmean(ours.loss) == pytest.approx(wheel.average_loss, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ("--mellowness 0.01", {"mellowness": 0.01}),
        ("--mellowness 0.01 --adax", {"mellowness": 0.01, "accumulator": "adax"}),
        ("--adax", {"accumulator": "adax"}),
        (
            "--mellowness 0.001 --adax --range_c 0.2 -l 0.3",
            {"mellowness": 0.001, "accumulator": "adax", "rule__width_scale": 0.2, "learning_rate": 0.3},
        ),
        (
            "--mellowness 0.001 --adax --domination 0",
            {"mellowness": 0.001, "accumulator": "adax", "rule": "no-domination"},
        ),
        ("--mellowness 0.001 --noconstant", {"mellowness": 0.001, "model__fit_intercept": False}),
        (
            "--mellowness 0.001 --adax -q ab --ngram 2",
            {"mellowness": 0.001, "accumulator": "adax", "pairs": ["ab"], "reading": {"ngrams": ["2"]}},
        ),
        (
            "--mellowness 0.001 --ngram a3 --skips a1 --ignore b",
            {"mellowness": 0.001, "reading": {"ngrams": ["a3"], "skips": ["a1"], "ignore": ["b"]}},
        ),
        (
            "--mellowness 0.01 --adax --passes 2 --holdout_off -k --cache_file train.cache",
            {"mellowness": 0.01, "accumulator": "adax", "passes": 2},
        ),
        ("--adaptive --normalized --invariant --power_t 0.5 --initial_t 0 --l2 0 --random_seed 3", {}),
    ],
)
def test_as_many_costs_are_asked_for_and_the_same_labels_predicted(folder, options, settings):
    write_examples("train.vw")
    ours, wheel = run("train.vw", **settings), run_wheel(f"--cs_active 4 --simulation {options} -d train.vw", folder)
    assert_same(ours, wheel)
    assert ours.queries == wheel.queries
    assert "passes" in settings or ours.queries < 4 * 120


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ("--interactions ab -q bb --keep ab", {"pairs": ["ab", "bb"], "reading": {"keep": ["ab"]}}),
        ("--adax -q aa", {"accumulator": "adax", "pairs": ["aa"]}),
        ("-q aa --ngram 2", {"pairs": ["aa"], "reading": {"ngrams": ["2"]}}),
    ],
)
def test_products_within_a_namespace_are_the_wheels_if_lines_have_one_order(folder, options, settings):
    write_examples("train.vw", in_order=True)
    command = f"--cs_active 4 --simulation --mellowness 0.001 {options} -d train.vw"
    ours, wheel = run("train.vw", mellowness=0.001, **settings), run_wheel(command, folder)
    assert_same(ours, wheel)
    assert ours.queries == wheel.queries < 4 * 120
    write_examples("train.vw", in_order=False)
    with pytest.raises(AssertionError):  # the wheel tells c1 c2 from c2 c1
        assert_same(run("train.vw", mellowness=0.001, **settings), run_wheel(command, folder))


def test_any_letter_stands_for_all_pairs_of_letters(folder):
    write_examples("train.vw", in_order=True)
    everything, of_a = ["aa", "ab", "bb"], ["aa", "ab"]
    assert_same(run("train.vw", pairs=everything, rule="passive"), run_wheel("--csoaa 4 -q :: -d train.vw", folder))
    assert_same(run("train.vw", pairs=of_a, rule="passive"), run_wheel("--csoaa 4 -q a: -d train.vw", folder))
    command = "--cs_active 4 --simulation --mellowness 0.001 -d train.vw"
    ours = run("train.vw", pairs=everything, mellowness=0.001)
    assert ours.queries == run_wheel(f"{command} -q aa -q ab -q bb", folder).queries
    assert ours.queries != run_wheel(f"{command} -q ::", folder).queries  # whose ranges leave the products out


@pytest.mark.parametrize("accumulator", ["adagrad", "adax"])
@pytest.mark.parametrize("largest", [0.5, 2.0, 10.0])
def test_costs_of_another_range_give_the_wheels_numbers(folder, accumulator, largest):
    write_examples("train.vw", largest=largest)
    adax = "--adax" if accumulator == "adax" else ""
    options = f"--cs_active 4 --simulation --mellowness 0.01 --cost_max {largest} {adax} -d train.vw"
    ours = run("train.vw", largest=largest, mellowness=0.01, accumulator=accumulator)
    wheel = run_wheel(options, folder)
    assert_same(ours, wheel)
    assert ours.queries == wheel.queries < 4 * 120


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ("", {}),
        ("--adax", {"accumulator": "adax"}),
        ("-l 0.1 -q ab --ngram 2", {"learning_rate": 0.1, "pairs": ["ab"], "reading": {"ngrams": ["2"]}}),
        ("--passes 3 --holdout_off -c -k", {"passes": 3}),
    ],
)
@pytest.mark.parametrize("largest", [1.0, 5.0])
def test_all_costs_are_learned_as_csoaa_learns_them(folder, options, settings, largest):
    write_examples("train.vw", largest=largest)
    ours = run("train.vw", rule="passive", largest=largest, **settings)
    assert_same(ours, run_wheel(f"--csoaa 4 {options} -d train.vw", folder))


def test_partial_costs_unlabelled_lines_and_tags_are_read_as_the_wheel_reads_them(folder):
    def write_label(number, cost):
        if number % 10 == 9:
            return " "
        listed = [label for label in range(4) if (number + label) % 3]
        pairs = "".join(f"{label + 1}:{cost[label]:g} " for label in listed)
        return pairs + (f"'n{number}" if number % 4 == 1 else f"n{number}" if number % 4 == 2 else "")

    write_examples("train.vw", write_label=write_label)
    # The wheel mixes up the labels' statistics unless all are learned equally often: passive, and adax.
    ours = run("train.vw", rule="passive", accumulator="adax")
    assert_same(ours, run_wheel("--csoaa 4 --adax -d train.vw", folder))
    assert np.isnan(ours.loss).sum() == 12


def test_an_unlabelled_line_is_not_a_round(folder):
    write_examples("train.vw", write_label=lambda number, cost: "" if number % 3 == 1 else costs_text(cost))
    ours = run("train.vw", accumulator="adax", mellowness=0.01)
    wheel = run_wheel("--cs_active 4 --simulation --adax --mellowness 0.01 -d train.vw", folder)
    assert_same(ours, wheel)
    assert ours.queries == wheel.queries < 4 * 80
    assert ours.learner.round_ == 81


def test_labels_that_the_file_lacks_count(folder):
    write_examples("train.vw", n_labels=3, seed=3)
    ours = run("train.vw", accumulator="adax", mellowness=0.002, reading={"classes": list(range(1, 10))})
    wheel = run_wheel("--cs_active 9 --simulation --adax --mellowness 0.002 -d train.vw", folder)
    assert_same(ours, wheel)
    fewer = run("train.vw", accumulator="adax", mellowness=0.002)
    assert fewer.queries != ours.queries == wheel.queries  # more labels, more slack


def test_labels_may_begin_at_0(folder):
    def write_label(_number, cost):
        return "".join(f"{label}:{one:g} " for label, one in enumerate(cost.tolist()))

    write_examples("train.vw", write_label=write_label)
    ours = run("train.vw", rule="passive")
    assert_same(ours, run_wheel("--csoaa 4 -d train.vw", folder))
    assert ours.learner.classes_.tolist() == [0, 1, 2, 3]


def test_new_examples_are_predicted_as_the_wheels_saved_model_does(folder):
    write_examples("train.vw")
    write_examples("test.vw", n=40, seed=7)
    run_wheel("--csoaa 4 --adax -q ab --ngram 2 -d train.vw -f model", folder)
    theirs = run_wheel("-t -i model -d test.vw", folder)
    ours = run("train.vw", rule="passive", accumulator="adax", pairs=["ab"], reading={"ngrams": ["2"]})
    names = read_dataset("train.vw", targets="costs", grouped=True, ngrams=["2"]).feature_names
    test = read_dataset("test.vw", targets="costs", grouped=True, ngrams=["2"], feature_names=names)
    # The second file has other weights of the words but the same words, so that nothing is unseen but some bigrams.
    chosen = ours.learner.classes_[ours.learner.predict_cost(test.X[:, : len(names)]).argmin(axis=1)]
    assert [str(label) for label in chosen] == theirs.chosen
