"""Several runs as one curve: the laws of the band, and where a test cost is reached for good."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.evaluate.curve import Curve
from coalface.evaluate.summary import band_over, questions_needed, summarize
from coalface.report.charts import Band


def a_run(asked, test_cost, examples=None):
    asked = np.array(asked)
    examples = asked if examples is None else np.array(examples)
    test_cost = np.array(test_cost, float)
    return Curve(asked, asked, examples, asked, test_cost, test_cost, seconds=0.0)


@st.composite
def some_runs(draw):
    runs = []
    for _ in range(draw(st.integers(1, 6))):
        steps = draw(st.lists(st.integers(1, 500), min_size=1, max_size=8))
        asked = np.cumsum([20, *steps])
        costs = draw(st.lists(st.floats(0, 1), min_size=len(asked), max_size=len(asked)))
        runs.append(a_run(asked, costs))
    return runs


@given(some_runs())
def test_the_median_lies_inside_the_band_and_the_band_inside_the_runs(runs):
    band = band_over(runs)
    assert (band.lower <= band.median + 1e-12).all()
    assert (band.median <= band.upper + 1e-12).all()
    assert band.lower.min() >= min(run.test_cost.min() for run in runs) - 1e-12
    assert band.upper.max() <= max(run.test_cost.max() for run in runs) + 1e-12


@given(some_runs())
def test_the_axis_grows_by_at_most_a_quarter_doubling_up_to_the_end_of_the_longest_run(runs):
    asked = band_over(runs).asked
    assert asked[0] == 20
    assert asked[-1] == pytest.approx(max(run.costs_queried[-1] for run in runs))
    assert (np.diff(np.log2(asked)) <= 0.25 + 1e-9).all()


@given(some_runs())
def test_the_last_median_is_the_median_of_the_final_test_costs(runs):
    assert band_over(runs).median[-1] == pytest.approx(np.median([run.test_cost[-1] for run in runs]))


@given(some_runs(), st.randoms())
def test_the_order_of_the_runs_does_not_matter(runs, random):
    shuffled = random.sample(runs, len(runs))
    assert np.array_equal(band_over(runs).median, band_over(shuffled).median)


def test_a_band_over_examples_reads_the_examples():
    band = band_over([a_run([100, 400], [0.4, 0.2], examples=[10, 20])], "examples_queried")
    assert band.asked[0] == 10
    assert band.asked[-1] == pytest.approx(20)
    assert band.median[2] == pytest.approx(0.3)  # half a doubling of one doubling


def test_a_band_can_begin_after_the_warm_up():
    assert band_over([a_run([100, 400], [0.4, 0.2])], start=200).median.tolist()[0] == pytest.approx(0.3)


@given(some_runs(), st.floats(0, 1))
def test_questions_needed_is_the_least_number_after_which_the_median_stays_at_or_below(runs, target):
    band = band_over(runs)
    needed = questions_needed(band, target)
    fine = np.geomspace(band.asked[0], band.asked[-1], 4001)
    median = np.interp(np.log2(fine), np.log2(band.asked), band.median)
    if np.isnan(needed):
        assert band.median[-1] > target
    else:
        assert (median[fine >= needed * (1 + 1e-9)] <= target + 1e-9).all()
        if needed > band.asked[0]:
            just_before = np.interp(np.log2(needed * (1 - 1e-6)), np.log2(band.asked), band.median)
            assert just_before >= target - 1e-4


def test_a_curve_that_rises_again_reaches_its_target_at_the_last_crossing():
    line = np.array([0.5, 0.1, 0.5, 0.1])
    assert questions_needed(Band(np.array([1.0, 2.0, 4.0, 8.0]), line, line, line), 0.1) == pytest.approx(8.0)


def test_a_rule_that_never_gets_as_good_as_passive_says_so():
    passive, coal = summarize({"passive": [a_run([10, 80], [0.5, 0.1])], "coal": [a_run([10, 20], [0.5, 0.2])]})
    assert np.isnan(coal.costs_to_match)
    assert np.isnan(coal.match_saving)
    assert coal.fewer_costs == 4.0
    assert (passive.fewer_costs, passive.match_saving) == (1.0, 1.0)


def test_the_saving_compares_with_when_passive_itself_got_there():
    runs = {"passive": [a_run([10, 20, 80], [0.5, 0.1, 0.1])], "coal": [a_run([10, 14], [0.5, 0.05])]}
    passive, coal = summarize(runs)
    assert passive.costs_to_match == pytest.approx(20)
    assert coal.match_saving == pytest.approx(20 / coal.costs_to_match)
    assert 10 < coal.costs_to_match < 14


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: band_over([]), "at least one curve"),
        (lambda: band_over([a_run([1], [1])], "seconds"), "'examples_queried', 'price', got 'seconds'"),
        (lambda: summarize({"coal": [a_run([1], [1])]}), "baseline must be one of 'coal', got 'passive'"),
    ],
)
def test_what_cannot_be_summarized_is_refused_with_the_reason(wrong, said):
    with pytest.raises(InputError, match=said):
        wrong()
