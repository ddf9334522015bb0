"""Runs of labels are long if they are longer than chance."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.data.label_runs import LabelRuns, cheapest_labels, longest_run


def noted(codes, parts=1):
    runs = LabelRuns()
    for part in np.array_split(codes, parts):
        runs.add(part)
    return runs


@given(st.lists(st.sampled_from("abc"), min_size=1))
def test_the_longest_run_is_that_of_groupby(labels):
    lengths = [(len(list(group)), label) for label, group in groupby(labels)]
    assert longest_run(labels) == max(lengths, key=lambda found: found[0])


def test_no_labels_have_no_run():
    assert longest_run([]).length == 0


def test_shuffled_files_have_no_long_run():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n_rows, n_labels = int(rng.integers(20, 20_000)), int(rng.integers(2, 51))
        skew = rng.choice([0.05, 0.5, 5.0, 100.0])  # from nearly one label to equal shares
        codes = rng.choice(n_labels, n_rows, p=rng.dirichlet(np.full(n_labels, skew)))
        assert noted(codes, parts=7).long_run() is None


@pytest.mark.parametrize("n_labels", [2, 3, 10, 50])
@pytest.mark.parametrize("n_rows", [1_000, 200_000])
def test_sorted_files_have_a_long_run(n_labels, n_rows):
    codes = np.sort(np.random.default_rng(1).integers(0, n_labels, n_rows))
    assert noted(codes).long_run() == longest_run(codes)


def test_a_file_with_a_single_label_has_no_long_run():
    assert noted(np.zeros(500, int)).long_run() is None


def test_a_rare_label_that_stands_together_is_a_long_run():
    assert noted([0] * 5_000 + [1] * 30 + [0] * 5_000).long_run() is not None


@given(st.lists(st.integers(-1, 2), max_size=200), st.integers(1, 9))
def test_runs_do_not_depend_on_how_rows_are_split(codes, parts):
    whole, split = noted(np.array(codes, int)), noted(np.array(codes, int), parts)
    assert (whole.n_rows, whole.long_run()) == (split.n_rows, split.long_run())


def test_an_unknown_label_ends_a_run():
    others = [1, 2] * 100
    assert noted([0] * 60 + others).long_run() is not None
    assert noted([0, 0, 0, -1] * 20 + others).long_run() is None


def test_only_a_single_least_cost_names_a_label():
    cost = np.array([[0.0, 1.0, 1.0], [0.2, 0.1, 0.1], [np.nan, 0.0, 1.0], [1.0, 0.5, 0.0]])
    assert cheapest_labels(cost).tolist() == [0, -1, -1, 2]
