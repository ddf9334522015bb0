"""Landmark features against scikit-learn's kernel and Nystroem's formula, and compiled code against its Python body."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from coalface.kernels.landmarks import add_landmarks, landmark_features


class Map:
    """The arrays of a map without landmarks."""

    def __init__(self, n_columns, n_components, rate):
        self.centres = np.zeros((n_columns, n_components), np.float32)
        self.factor = np.zeros((n_components, n_components))
        self.used, self.rate = np.zeros(1, np.int64), rate

    def add(self, rows, by=add_landmarks):
        table = np.zeros((len(rows), len(self.factor)), np.float32)
        by(self.centres, self.factor, self.used, self.rate, rows, table)
        return table

    def of(self, rows, beyond=None, by=landmark_features):
        table, rests = np.zeros((len(rows), len(self.factor)), np.float32), np.empty(len(rows))
        squares = np.zeros(len(rows)) if beyond is None else beyond
        by(self.centres, self.factor, self.used[0], self.rate, rows, squares, table, rests)
        return table, rests


def rows_of(seed, n_rows, n_columns=3):
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns)).astype(np.float32)


@given(seed=st.integers(0, 10_000), n_rows=st.integers(1, 40), rate=st.floats(0.05, 5.0))
def test_while_there_is_room_the_inner_products_are_those_of_scikit_learns_kernel(seed, n_rows, rate):
    rows = rows_of(seed, n_rows)
    found = Map(3, n_rows, rate)
    table = found.add(rows).astype(np.float64)
    np.testing.assert_allclose(table @ table.T, rbf_kernel(rows, gamma=rate), atol=2e-3)


@given(seed=st.integers(0, 10_000), n_components=st.integers(1, 12))
def test_few_landmarks_give_nystroems_approximation(seed, n_components):
    rows, tests = rows_of(seed, 30), rows_of(seed + 1, 10)
    found = Map(3, n_components, 0.5)
    found.add(rows)
    assert found.used[0] == n_components
    table, rests = found.of(tests)
    marks = rows[:n_components].astype(np.float64)
    with_marks = rbf_kernel(tests.astype(np.float64), marks, gamma=0.5)
    expected = with_marks @ np.linalg.solve(rbf_kernel(marks, gamma=0.5), with_marks.T)
    np.testing.assert_allclose(table.astype(np.float64) @ table.T.astype(np.float64), expected, atol=1e-4)
    np.testing.assert_allclose(rests, 1.0 - np.diag(expected), atol=1e-4)


def test_a_new_landmark_adds_a_feature_that_is_zero_for_all_landmarks_before_it():
    table = Map(3, 20, 0.5).add(rows_of(1, 20))
    assert (np.triu(table, 1) == 0).all()
    assert (np.diag(table) > 0).all()


def test_a_row_that_is_a_landmark_already_does_not_become_another():
    rows = rows_of(2, 5)
    found = Map(3, 20, 0.5)
    table = found.add(np.vstack([rows, rows]))
    assert found.used[0] == 5
    np.testing.assert_allclose(table[5:], table[:5], atol=1e-6)


def test_the_features_of_a_row_do_not_depend_on_the_rows_beside_it():
    rows, tests = rows_of(3, 30), rows_of(4, 20)
    at_once, one_by_one = Map(3, 20, 0.5), Map(3, 20, 0.5)
    table = at_once.add(rows)
    for row, expected in zip(rows, table, strict=True):
        np.testing.assert_array_equal(one_by_one.add(row[None])[0], expected)
    together = at_once.of(tests)[0]
    for row, expected in zip(tests, together, strict=True):
        np.testing.assert_array_equal(at_once.of(row[None])[0][0], expected)


def test_columns_that_no_landmark_has_add_to_the_distance():
    rows = rows_of(5, 10, 4)
    narrow, wide = Map(3, 10, 0.5), Map(4, 10, 0.5)
    narrow.add(rows[:, :3])
    wide.add(np.hstack([rows[:, :3], np.zeros((10, 1), np.float32)]))
    found, rests = narrow.of(rows[:, :3], rows[:, 3].astype(np.float64) ** 2)
    expected, expected_rests = wide.of(rows)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(rests, expected_rests, atol=1e-9)


@pytest.mark.parametrize("n_components", [4, 20])
def test_compiled_code_equals_its_python_body(n_components):
    rows, tests = rows_of(6, 12), rows_of(7, 5)
    compiled, plain = Map(3, n_components, 0.5), Map(3, n_components, 0.5)
    np.testing.assert_allclose(compiled.add(rows), plain.add(rows, add_landmarks.py_func), atol=1e-6)
    assert compiled.used[0] == plain.used[0]
    for ours, theirs in zip(compiled.of(tests), plain.of(tests, by=landmark_features.py_func), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
