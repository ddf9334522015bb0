"""Dates are years, month, weekday and hour; what no date of the first rows has is unknown."""

import warnings
from datetime import datetime, timedelta

import numpy as np
import pytest

from coalface import CoalClassifier, Encoder
from coalface.errors import DoubtfulColumnWarning

JANUARY = datetime(2024, 1, 1)
LABELS = ["a", "b", "c", "d", "e", "f"]


def days(n, *, start=JANUARY, length=121, seed=0):
    """So many dates at random within so many days."""
    random = np.random.default_rng(seed)
    return [start + timedelta(days=float(day)) for day in random.uniform(0, length, n)]


def rows(dates):
    return [{"day": day, "size": 1.0} for day in dates]


def parts(encoder, dates):
    """The columns of the dates alone."""
    start, end = encoder.groups["day"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulColumnWarning)
        return encoder.transform(rows(dates)).toarray()[:, start:end]


def described(dates):
    """What an encoder of these dates says about them."""
    return Encoder().fit(rows(dates)).describe().splitlines()[0].removeprefix("day   ")


def test_the_season_is_a_part_only_if_the_first_rows_have_all_months():
    assert described(days(400)) == "date, as years, weekday and hour, standardised"
    assert described(days(400, length=365)) == "date, as years, month, weekday and hour, standardised"


def test_from_many_dates_the_season_and_the_hour_are_places_on_circles():
    assert described(days(1000, length=365)) == "date, as years, day of year, weekday and time of day, standardised"
    encoder = Encoder().fit(rows(days(1000, length=365)))
    (_, *year_end, _, before, after), (_, *year_start, _, early, late) = parts(
        encoder, [datetime(2024, 12, 30, 23, 59), datetime(2024, 1, 1, 0, 1)]
    )
    np.testing.assert_allclose([*year_end, before, after], [*year_start, early, late], atol=0.1)


def test_a_part_that_is_always_the_same_is_left_out():
    dates = [JANUARY + timedelta(days=day) for day in range(100)]
    assert described(dates) == "date, as years and weekday, standardised"
    assert described(dates[:3]) == "date, as years and weekday, standardised"
    mondays = [JANUARY + timedelta(days=7 * week, hours=week % 24) for week in range(100)]
    assert described(mondays) == "date, as years, month and hour, standardised"
    assert described(mondays[1:3]) == "date, as years, weekday and hour, standardised"


@pytest.mark.parametrize("n_rows", [400, 1000])
def test_a_date_outside_the_first_rows_is_encoded_as_if_its_time_were_unknown(n_rows):
    encoder = Encoder().fit(rows([*days(n_rows), None]))
    later, earlier, missing = parts(encoder, [datetime(2025, 7, 7, 12), datetime(1999, 7, 5, 12), None])
    assert later[0] == earlier[0] == missing[0] == 0.0
    assert later[-1] == 0.0  # it is no missing value
    assert missing[-1] == 1.0
    np.testing.assert_array_equal(later, earlier)  # both are a Monday, at noon
    np.testing.assert_array_equal(later[1:-1], parts(encoder, [datetime(2024, 2, 5, 12)])[0, 1:-1])


@pytest.mark.parametrize("n_rows", [400, 2000])
def test_an_unseen_weekday_or_hour_is_unknown_too(n_rows):
    office = [day.replace(hour=9 + day.hour % 8) for day in days(n_rows) if day.weekday() < 5]
    encoder = Encoder().fit(rows(office))
    sunday, midnight = parts(encoder, [datetime(2024, 3, 3, 12), datetime(2024, 3, 4, 0)])
    assert sunday[1] == 0.0
    assert not midnight[2:].any()
    assert sunday[2:].all()
    assert midnight[1] != 0.0


def test_a_few_first_rows_do_not_limit_the_weekday_and_the_hour():
    encoder = Encoder().fit(rows([datetime(2024, 1, 1, 9)]))
    found = parts(encoder, days(2000, seed=1))
    assert (found[:, 0] == 0.0).all()
    np.testing.assert_allclose(found[:, 1:].mean(axis=0), 0.0, atol=0.1)
    np.testing.assert_allclose(found[:, 1:].std(axis=0), 1.0, atol=0.05)


def test_no_date_lies_farther_out_than_those_of_the_first_rows():
    encoder = Encoder().fit(rows(days(400)))
    near, far = parts(encoder, days(400)), parts(encoder, days(2000, start=datetime(1990, 1, 1), length=20_000))
    tenth = np.ptp(near, axis=0) / 9.9
    assert (far >= near.min(axis=0) - tenth).all()
    assert (far <= near.max(axis=0) + tenth).all()


def test_an_encoder_of_an_older_file_encodes_as_it_did():
    old = {
        "kind": "date",
        "name": "day",
        "means": [2024.0, 6.0, 3.0, 12.0],
        "scales": [0.5, 2, 1, 4],
        "optional": False,
    }
    plain = Encoder().fit(rows(days(5))).plain()
    encoder = Encoder.from_plain({**plain, "columns": [old, plain["columns"][1]]})
    assert encoder.describe().startswith("day   date, as years, month, weekday and hour, standardised\n")
    day = datetime(2030, 8, 9, 18, 30)
    years = (day.toordinal() + 18.5 / 24) / 365.2425
    expected = [(years - 2024) / 0.5, (8 - 6) / 2, (day.weekday() - 3) / 1, (18.5 - 12) / 4]
    np.testing.assert_allclose(parts(encoder, [day])[0], expected, rtol=1e-6)


def test_dates_beyond_the_first_rows_are_told_once():
    encoder = Encoder().fit(rows(days(400)))
    new = [*days(50, seed=1), *days(250, start=datetime(2025, 1, 1), length=365)]
    with pytest.warns(DoubtfulColumnWarning) as caught:
        encoder.transform(rows(new))
    (one,) = caught
    assert str(one.message).startswith(
        f"Column 'day' of 250 of 300 rows lies after {max(days(400)):%Y-%m-%d}, the last date of the first rows (up to "
        f"{max(new):%Y-%m-%d}). They count as unknown."
    )
    assert one.filename == __file__
    encoder.transform(rows(new))
    with pytest.warns(DoubtfulColumnWarning, match="of 300 rows lies before 2024-01-01, the first date"):
        Encoder().fit(rows(days(400))).transform(rows(days(300, start=datetime(1990, 1, 1))))


@pytest.mark.parametrize("n_rows", [30, 400])
def test_dates_of_the_same_time_are_not_told(n_rows):
    for seed in range(20):
        Encoder().fit(rows(days(n_rows, seed=seed))).transform(rows(days(300, seed=seed + 100)))


def tickets(dates, *, seed, noise=0.6):
    """Tickets whose label does not depend on their date, the labels, and a cost matrix up to 100."""
    world, random = np.random.default_rng(1000), np.random.default_rng(seed)
    matrix = world.uniform(5, 100, (6, 6)).round()
    np.fill_diagonal(matrix, 0)
    directions, of_teams = world.normal(size=(4, 6)), world.normal(size=(5, 6))
    X, team = random.normal(size=(len(dates), 4)), random.integers(0, 5, len(dates))
    y = (X @ directions + of_teams[team] + noise * random.gumbel(size=(len(dates), 6))).argmax(axis=1)
    parts = zip(X.tolist(), team.tolist(), dates, strict=True)
    records = [{**{f"x{k}": x for k, x in enumerate(row)}, "team": "PQRST"[k], "day": day} for row, k, day in parts]
    return records, y, matrix


def mean_cost(train, test, y, y_test, matrix):
    learner = CoalClassifier(LABELS, cost_matrix=matrix, cost_bounds=(0, 100), model="classes")
    predicted = learner.fit(train, [LABELS[k] for k in y]).predict(test)
    return matrix[y_test, [LABELS.index(label) for label in predicted]].mean()


@pytest.mark.filterwarnings("ignore::coalface.errors.DoubtfulColumnWarning")
def test_a_date_that_says_nothing_costs_next_to_nothing_in_the_next_year():
    with_dates, without = [], []
    for seed in range(3):
        train, y, matrix = tickets(days(400, seed=seed), seed=seed)
        test, y_test, _ = tickets(days(1000, start=datetime(2025, 1, 1), length=365), seed=seed + 100)
        with_dates.append(mean_cost(train, test, y, y_test, matrix))
        for record in (*train, *test):
            del record["day"]
        without.append(mean_cost(train, test, y, y_test, matrix))
    assert np.mean(with_dates) < 1.08 * np.mean(without)
