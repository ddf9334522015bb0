"""The best learning rate: by the least median AUC, on each dataset and for each line apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.studies.selection import choose_rates
from tests.studies.made_findings import a_run, findings


def runs_with(aucs_by_rate, line="coal", data="digits"):
    return [
        a_run([100], [0.5], data=data, line=line, rate=rate, permutation=permutation, auc=auc)
        for rate, aucs in aucs_by_rate.items()
        for permutation, auc in enumerate(aucs)
    ]


def test_the_rate_with_the_least_median_wins_even_if_another_has_the_least_mean():
    (choice,) = choose_rates(findings(runs_with({0.1: [1, 2, 9], 0.5: [3, 3, 3], 1.0: [5, 5, 5]}), baseline="coal"))
    assert choice.rate == 0.1
    assert choice.rates == (0.1, 0.5, 1.0)
    assert choice.aucs == (2.0, 3.0, 5.0)
    assert choice.permutations == (3, 3, 3)


def test_of_two_equally_good_rates_the_smaller_one_is_taken_whatever_their_order():
    for rates in ([0.5, 0.1, 1.0], [1.0, 0.5, 0.1]):
        (choice,) = choose_rates(findings(runs_with({rate: [2.0] for rate in rates}), baseline="coal"))
        assert choice.rate == 0.1


@pytest.mark.parametrize(("best", "at_edge"), [(0.1, True), (0.5, False), (1.0, True)])
def test_a_best_rate_at_the_end_of_the_grid_is_noticed(best, at_edge):
    aucs = {rate: [1.0 if rate == best else 2.0] for rate in (0.1, 0.5, 1.0)}
    (choice,) = choose_rates(findings(runs_with(aucs), baseline="coal"))
    assert choice.at_edge == at_edge


def test_a_single_rate_is_not_an_edge():
    (choice,) = choose_rates(findings(runs_with({0.5: [1.0]}), baseline="coal"))
    assert not choice.at_edge


def test_datasets_and_lines_choose_apart_and_come_in_the_order_of_the_study():
    runs = [
        *runs_with({0.1: [2], 0.5: [1]}, "coal", "b"),
        *runs_with({0.1: [1], 0.5: [2]}, "passive", "b"),
        *runs_with({0.1: [1], 0.5: [2]}, "coal", "a"),
    ]
    choices = choose_rates(findings(runs, lines=["passive", "coal"]))
    found = [(choice.data, choice.line, choice.rate) for choice in choices]
    assert found == [("b", "passive", 0.1), ("b", "coal", 0.5), ("a", "coal", 0.1)]


def test_the_chosen_runs_come_by_permutation():
    runs = runs_with({0.1: [3, 1, 2], 0.5: [9, 9, 9]})[::-1]
    (choice,) = choose_rates(findings(runs, baseline="coal"))
    assert [run.permutation for run in choice.runs] == [0, 1, 2]
    assert {run.learning_rate for run in choice.runs} == {0.1}


def test_rates_are_compared_on_the_permutations_that_all_of_them_have():
    hard, easy = 5.0, 1.0
    runs = runs_with({0.1: [hard, hard, easy, easy, easy], 0.5: [hard - 1, hard - 1], 1.0: [hard + 1, hard - 2, hard]})
    (choice,) = choose_rates(findings(runs, baseline="coal"))
    assert choice.aucs == (hard, hard - 1, hard - 0.5)
    assert choice.rate == 0.5  # all runs of rate 0.1 have a lower median, for it also ran where it is easy
    assert choice.permutations == (5, 2, 3)
    assert (choice.shared, choice.uneven) == (2, True)
    assert [run.permutation for run in choice.runs] == [0, 1]


def test_rates_that_share_no_permutation_are_each_judged_by_their_own():
    runs = [
        a_run([100], [0.5], rate=rate, permutation=p, auc=auc)
        for rate, p, auc in [(0.1, 0, 3.0), (0.1, 1, 5.0), (0.5, 2, 2.0), (1.0, 0, 9.0)]
    ]
    (choice,) = choose_rates(findings(runs, baseline="coal"))
    assert (choice.rate, choice.aucs) == (0.5, (4.0, 2.0, 9.0))
    assert (choice.shared, choice.uneven) == (0, True)


def test_whole_permutations_are_even():
    (choice,) = choose_rates(findings(runs_with({0.1: [1, 2], 0.5: [3, 4]}), baseline="coal"))
    assert (choice.shared, choice.uneven) == (2, False)


def chosen_rate(pairs):
    """The rate that is chosen, of pairs of a rate and its AUC."""
    runs = [a_run([100], [0.5], rate=rate, auc=auc) for rate, auc in pairs]
    return choose_rates(findings(runs, baseline="coal"))[0].rate


@given(st.lists(st.tuples(st.floats(0.01, 10), st.floats(0, 5)), min_size=1, unique_by=lambda pair: pair[0]))
def test_no_other_rate_is_better_nor_as_good_and_smaller(pairs):
    best = chosen_rate(pairs)
    auc = dict(pairs)[best]
    assert all((other, rate) >= (auc, best) for rate, other in pairs)


def test_an_auc_that_is_not_known_never_wins():
    assert chosen_rate([(0.1, np.nan), (0.5, 3.0)]) == 0.5


def test_the_papers_rate_has_the_largest_median_of_its_own_area():
    runs = [
        a_run([100], [0.5], rate=rate, permutation=permutation, auc=rate, auc_published=area)
        for rate, areas in {0.1: [1, 2, 9], 0.5: [3, 3, 3], 1.0: [4, 1, 1]}.items()
        for permutation, area in enumerate(areas)
    ]
    (choice,) = choose_rates(findings(runs, baseline="coal"))
    assert (choice.rate, choice.rate_published) == (0.1, 0.5)
    assert choice.aucs_published == (2.0, 3.0, 1.0)
    (older,) = choose_rates(findings(runs_with({0.1: [1.0], 0.5: [2.0]}), baseline="coal"))
    assert older.rate_published is None
