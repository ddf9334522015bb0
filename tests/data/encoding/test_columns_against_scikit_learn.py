"""Numbers and categories are those of scikit-learn's StandardScaler and OneHotEncoder."""

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from coalface import Encoder


@pytest.mark.parametrize("n_rows", [1, 2, 50])
def test_numbers_are_standardised_as_by_scikit_learn(n_rows):
    rng = np.random.default_rng(n_rows)
    first, later = rng.normal(5, 100, (n_rows, 3)), rng.normal(0, 9, (7, 3))
    first[:, 2] = 4.0  # a constant column is centred only
    encoder = Encoder().fit(first)
    expected = StandardScaler().fit(first).transform(later)
    np.testing.assert_allclose(encoder.transform(later).toarray(), expected, rtol=1e-6, atol=1e-6)


def test_missing_numbers_are_the_mean_and_are_marked_where_the_first_rows_had_any():
    first = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 8.0]])
    encoder = Encoder().fit(first)
    scaler = StandardScaler().fit(first)  # ignores NaN
    later = np.array([[np.nan, np.nan], [1.0, 4.0]])
    expected = scaler.transform(later)
    found = encoder.transform(later).toarray()
    assert found[0].tolist() == [0.0, 0.0, 1.0]
    np.testing.assert_allclose(found[1], [*expected[1], 0.0], rtol=1e-6)


def test_categories_are_one_hot_as_by_scikit_learn_with_a_column_for_others():
    first, later = [["red"], ["blue"], ["red"]], [["blue"], ["red"], ["green"]]
    expected = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(first).transform(later)
    found = Encoder(category=["x0"]).fit(first).transform(later).toarray()
    np.testing.assert_array_equal(found[:, :-1], expected)
    np.testing.assert_array_equal(found[:, -1], 1 - expected.sum(axis=1))


def test_missing_categories_have_a_column_where_the_first_rows_had_any_and_are_others_elsewhere():
    assert Encoder().fit([["red"], [None]]).transform([[None], ["green"]]).toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert Encoder().fit([["red"], ["red"]]).transform([[None], ["red"]]).toarray().tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("n_rows", [60, 1000])
def test_dates_are_numbers_of_pandas_standardised(n_rows):
    pandas = pytest.importorskip("pandas")
    days = pandas.Series(pandas.date_range("2023-11-05 07:30", periods=n_rows, freq="211h"))
    found = Encoder().fit(days.to_frame("day")).transform(days.to_frame("day")).toarray()
    hour = days.dt.hour + days.dt.minute / 60
    years = (days - days[0]).dt.total_seconds() / (365.2425 * 86400)
    parts = [years, days.dt.month, days.dt.day_of_week, hour]
    if n_rows == 1000:
        year, day = 2 * np.pi * days.dt.day_of_year / 365.2425, 2 * np.pi * hour / 24
        parts = [years, np.sin(year), np.cos(year), days.dt.day_of_week, np.sin(day), np.cos(day)]
    np.testing.assert_allclose(found, StandardScaler().fit_transform(np.column_stack(parts)), atol=1e-4)


def test_dates_in_another_zone_and_as_text_are_the_same_dates():
    pandas = pytest.importorskip("pandas")
    zoned = pandas.date_range("2024-01-01", periods=5, freq="9h", tz="UTC")
    encoder = Encoder().fit({"day": [str(day) for day in zoned]})
    expected = encoder.transform({"day": [day.to_pydatetime() for day in zoned]}).toarray()
    for days in (zoned.tz_convert("Asia/Tokyo"), zoned.tz_localize(None)):
        np.testing.assert_array_equal(encoder.transform(pandas.DataFrame({"day": days})).toarray(), expected)
