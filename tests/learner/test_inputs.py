"""A learner says which columns of new rows have left what it has learned."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from coalface import CoalClassifier, Encoder, JsonLinesLedger, MemoryLedger, evaluation_report, simulate
from coalface.errors import DoubtfulColumnWarning

LABELS = ["a", "b"]


def learned(X, **params):
    n_rows = X.shape[0] if sparse.issparse(X) else len(X)
    return CoalClassifier(LABELS, model="online", **params).tell(X, np.tile([0.0, 1.0], (n_rows, 1)))


def told(learner, X):
    """What the learner says about rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.predict(X)
    return [str(one.message) for one in caught if one.category is DoubtfulColumnWarning]


def tickets(n, seed, *, price=1.0, teams="PQRS"):
    random = np.random.default_rng(seed)
    amounts, places = price * random.exponential(size=n), random.integers(0, len(teams), n)
    return [{"price": float(amount), "team": teams[place]} for amount, place in zip(amounts, places, strict=True)]


def test_a_number_far_beyond_the_largest_one_is_told_once_in_its_own_unit():
    X, new = tickets(300, seed=0), tickets(300, seed=1, price=10.0)
    learner = learned(X)
    largest = max(row["price"] for row in X)
    range_learned = largest - min(row["price"] for row in X)
    beyond = sum(row["price"] > largest + 0.1 * range_learned for row in new)
    extreme = max(row["price"] for row in new)
    (said,) = told(learner, new)
    assert said == (
        f"Column 'price' of {beyond} of 300 rows lies above {largest:.4g}, the largest value learned (up to "
        f"{extreme:.4g}, {(extreme - largest) / range_learned:.1f} times the range further). Predictions there are "
        "guesses: tell the learner such examples, or leave the column out."
    )
    assert told(learner, new) == []


def test_values_of_a_category_that_were_never_learned_are_told():
    learner = learned(tickets(300, seed=0))
    new = tickets(300, seed=1, teams="PQRX")
    count = sum(row["team"] == "X" for row in new)
    assert told(learner, new)[0].startswith(f"Column 'team' of {count} of 300 rows has values that were never learned.")


def test_a_value_that_the_encoder_knows_but_the_learner_never_learned_is_told():
    encoder = Encoder().fit(tickets(300, seed=0))
    learner = learned(tickets(300, seed=1, teams="PQR"), features=encoder)
    assert "Column 'team'" in told(learner, tickets(300, seed=2))[0]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_columns_of_an_array_have_numbers(kind):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5)) * (random.random((300, 5)) < 0.5)
    new = X.copy()
    new[:, 3] -= 100
    assert told(learned(kind(X)), kind(new))[0].startswith("Column 3 of 300 of 300 rows lies below -")


def test_columns_of_a_data_frame_of_numbers_have_names():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=["kg", "cm"])
    assert told(learned(X), X + np.array([0, 50]))[0].startswith("Column 'cm' of 300 of 300 rows lies above")


def test_dates_that_the_encoder_knows_but_the_learner_never_learned_are_told_as_dates():
    days = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    rows = [{"day": day, "size": 1.0} for day in days]
    learner = learned(rows[:112], features=Encoder().fit(rows))
    assert told(learner, rows)[0].startswith(
        "Column 'day' of 215 of 336 rows lies after 2024-04-28, the last date learned (up to 2024-12-28)."
    )


def test_score_and_reports_say_it_too():
    X, new = tickets(300, seed=0), tickets(300, seed=1, price=10.0)
    cost = np.tile([0.0, 1.0], (300, 1))
    for judge in (lambda learner: learner.score(new, cost=cost), lambda learner: evaluation_report(learner, new, cost)):
        with pytest.warns(DoubtfulColumnWarning, match="Column 'price' of"):
            judge(learned(X))


def test_rows_that_come_one_by_one_are_told_together():
    learner = learned(tickets(300, seed=0))
    said = [text for row in tickets(2000, seed=1, price=10.0) for text in told(learner, [row])]
    assert len(said) == 1
    assert said[0].startswith("Column 'price' of")


def test_what_is_learned_later_widens_the_range():
    learner, new = learned(tickets(300, seed=0)), tickets(300, seed=1, price=10.0)
    for row in tickets(300, seed=2, price=10.0):
        learner.tell([row], [[0.0, 1.0]])
    assert told(learner, new) == []


def test_rows_without_an_answer_are_not_learned():
    learner, new = learned(tickets(300, seed=0)), tickets(300, seed=1, price=10.0)
    learner.tell(new, np.full((300, 2), np.nan))
    assert told(learner, new)


def test_fit_forgets_the_ranges():
    new = tickets(300, seed=1, price=10.0)
    learner = CoalClassifier(model="online").fit(tickets(300, seed=0), ["a", "b"] * 150)
    assert told(learner, new)
    assert told(learner.fit(new, ["a", "b"] * 150), tickets(300, seed=2, price=10.0)) == []


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_a_file_has_the_ranges(tmp_path, n_rows):
    X, new = tickets(300, seed=0), tickets(300, seed=1, price=10.0)
    learner = CoalClassifier(LABELS, model="online", features=Encoder().fit(X))
    for start in range(0, 300, n_rows):
        part = X[start : start + n_rows]
        learner.tell(part, np.tile([0.0, 1.0], (len(part), 1)))
    learner.save(tmp_path / "model")
    assert told(CoalClassifier.load(tmp_path / "model"), new) == told(learner, new) == told(learned(X), new)


@pytest.mark.parametrize("raw", [False, True], ids=["numbers", "with texts"])
def test_a_ledger_has_the_ranges(tmp_path, raw):
    X, new = tickets(300, seed=0), tickets(300, seed=1, price=10.0)
    if raw:
        X, new = ([{**row, "note": f"my note {k}"} for k, row in enumerate(part)] for part in (X, new))
    cost = np.tile([0.0, 1.0], (300, 1))
    for ledger in (MemoryLedger(), JsonLinesLedger(tmp_path / "answers.jsonl")):
        learner = CoalClassifier(LABELS, model="online").record_to(ledger)
        simulate(learner, X, cost)
        (said,) = told(learner, new)
        assert "Column 'price' of" in said
        assert told(CoalClassifier.from_ledger(ledger), new) == [said]


DRAWS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "uniform": lambda random, shape: 5 + random.random(shape),
    "without moments": lambda random, shape: random.standard_cauchy(shape),
    "skewed": lambda random, shape: np.exp(2 * random.normal(size=shape)),
    "rare": lambda random, shape: (random.random(shape) < 0.03).astype(float),
}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(("n_learned", "n_new"), [(30, 30), (30, 1000), (300, 300), (2000, 100), (10_000, 10_000)])
def test_new_rows_of_the_same_distribution_are_not_told(draw, n_learned, n_new):
    for seed in range(40 if n_learned < 2000 else 4):
        random = np.random.default_rng(seed)
        learner = learned(DRAWS[draw](random, (n_learned, 5)))
        assert told(learner, DRAWS[draw](random, (n_new, 5))) == []


@pytest.mark.parametrize(("n_learned", "n_new"), [(30, 30), (30, 1000), (300, 300), (300, 3000), (2000, 100)])
def test_rare_categories_are_not_told(n_learned, n_new):
    shares = 1 / np.arange(1, 91)
    for seed in range(20):
        codes = np.random.default_rng(seed).choice(90, n_learned + n_new, p=shares / shares.sum())
        rows = [{"code": f"v{code}", "size": 1.0} for code in codes]
        learner = learned(rows[:n_learned], features=Encoder(category=["code"]))
        assert told(learner, rows[n_learned:]) == []


def test_many_columns_are_not_watched():
    X = np.random.default_rng(0).normal(size=(60, 1001))
    assert told(learned(X), X + 100) == []
