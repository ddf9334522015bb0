"""Savings: against a plain loop over resampled permutations, and where the target is never reached."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from coalface.evaluate.summary import band_over, questions_needed
from coalface.studies.findings import ANSWERS, COSTS, EXAMPLES, PRICE
from coalface.studies.report.savings import DRAWS, Analysis, medians_of_draws
from coalface.studies.selection import choose_rates
from tests.studies.made_findings import BASELINES, LINES, K, N, a_run, data_facts, findings, learning, unpriced


def outcomes(study):
    return Analysis.of(study).outcomes


def by_line(found):
    return {outcome.line: outcome for outcome in found}


@given(
    arrays.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-5, 5)),
    st.integers(0, 2**32 - 1),
)
def test_medians_of_draws_are_the_medians_of_what_was_drawn(values, seed):
    draws = np.random.default_rng(seed).integers(len(values), size=(20, len(values)))
    assert np.array_equal(medians_of_draws(values, draws), np.median(values[draws], axis=1))


def test_a_line_that_falls_four_times_as_fast_saves_four_times():
    asked = 100 * 2 ** np.arange(8)
    passive = [a_run(asked, 10.0 / asked, line="passive", permutation=p, examples=asked // 2) for p in range(3)]
    coal = [a_run(asked, 2.5 / asked, permutation=p, examples=asked) for p in range(3)]
    rows = by_line(outcomes(findings([*passive, *coal])))
    assert rows["coal"].savings[COSTS].factor == pytest.approx(4)
    assert rows["coal"].savings[COSTS].interval.low == pytest.approx(4)
    assert rows["coal"].savings[EXAMPLES].factor == pytest.approx(2)  # passive asks two costs an example, coal one
    assert rows["coal"].excess == pytest.approx(-7.5 / asked[-1])
    assert rows["passive"].savings[COSTS].factor == 1


def test_savings_equal_a_plain_loop_that_draws_whole_runs():
    study = learning(n=6)
    chosen = {choice.line: choice.runs for choice in choose_rates(study)}
    draws = np.random.default_rng([20_190_601, 0]).integers(6, size=(DRAWS, 6))
    for line in LINES:
        saving = by_line(outcomes(study))[line].savings[COSTS]
        for draw in range(0, DRAWS, 97):
            drawn = {name: [chosen[name][p].points for p in draws[draw]] for name in ("passive", line)}
            target = np.median([points.test_cost[-1] for points in drawn["passive"]])
            needed = {name: questions_needed(band_over(points), target) for name, points in drawn.items()}
            factor = np.nan_to_num(needed["passive"] / needed[line])
            assert saving.draws[draw] == pytest.approx(factor, rel=1e-9)


def test_a_line_that_never_gets_there_saves_nothing_and_says_so():
    never = by_line(outcomes(learning()))["coal 0.001"].savings[COSTS]
    assert np.isnan(never.needed)
    assert never.factor == 0
    assert never.reached == 0
    assert (never.interval.low, never.interval.high) == (0, 0)


def test_a_line_that_gets_there_on_some_permutations_only_has_never_as_its_lower_end():
    passive = [a_run([100, 400], [0.5, 0.2], line="passive", permutation=p) for p in range(5)]
    coal = [a_run([100, 200], [0.5, 0.3 if p < 2 else 0.2], permutation=p) for p in range(5)]
    saving = by_line(outcomes(findings([*passive, *coal])))["coal"].savings[COSTS]
    assert saving.factor == pytest.approx(2)
    assert saving.interval.low == 0
    assert saving.interval.high == pytest.approx(2)
    three_or_more_of_five_bad = 10 * 0.4**3 * 0.6**2 + 5 * 0.4**4 * 0.6 + 0.4**5
    assert saving.reached == pytest.approx(1 - three_or_more_of_five_bad, abs=0.05)


def test_the_baseline_always_reaches_its_own_end():
    for n in (2, 3, 4, 7, 20):  # the median of an even number of runs is between two of them
        assert by_line(outcomes(learning(n=n)))["passive"].savings[COSTS].reached == 1


def test_only_permutations_that_both_have_are_compared():
    passive = [a_run([100, 400], [0.5, 0.2], line="passive", permutation=p) for p in (0, 1, 2)]
    coal = [a_run([100, 200], [0.5, cost], permutation=p) for p, cost in ((1, 0.2), (2, 0.2), (7, 0.9))]
    rows = by_line(outcomes(findings([*passive, *coal])))
    assert rows["coal"].permutations == 2
    assert rows["coal"].test_cost == 0.2


def test_a_dataset_without_baseline_has_no_outcomes():
    assert outcomes(findings([a_run([100], [0.5])], lines=["passive", "coal"])) == ()


def test_a_single_permutation_gives_no_interval():
    saving = by_line(outcomes(learning(n=1)))["coal 0.01"].savings[COSTS]
    assert saving.factor > 1
    assert np.isnan(saving.interval.low)


def test_a_label_counts_as_all_its_costs_or_as_one_answer():
    rows = by_line(outcomes(learning(LINES | BASELINES)))
    margin = rows["margin"].savings
    assert margin[ANSWERS].asked * K == margin[COSTS].asked == N * K
    assert margin[ANSWERS].factor == pytest.approx(K * margin[COSTS].factor, rel=0.05)
    assert rows["vw"].savings[ANSWERS].factor == rows["vw"].savings[COSTS].factor


def test_prices_are_compared_where_there_are_some():
    priced = by_line(outcomes(learning(price_unit="seconds")))["coal 0.1"].savings
    assert priced[PRICE].factor == pytest.approx(priced[COSTS].factor, rel=0.05)
    assert PRICE not in by_line(outcomes(learning()))["coal 0.1"].savings


@pytest.mark.parametrize("permutations", [(0, 1, 2, 3, 4), (3,)])
def test_a_line_one_of_whose_runs_has_no_known_price_is_not_compared_by_price(permutations):
    study = unpriced(learning(price_unit="seconds"), "coal 0.1", permutations=permutations)
    rows = by_line(outcomes(study))
    assert PRICE not in rows["coal 0.1"].savings
    assert rows["coal 0.1"].savings[COSTS].factor > 1
    others = by_line(outcomes(learning(price_unit="seconds")))
    assert rows["coal 0.01"].savings[PRICE].factor == others["coal 0.01"].savings[PRICE].factor > 1
    assert ("coal 0.1", PRICE) not in {(mean.line, mean.measure) for mean in Analysis.of(study).means}


def test_nothing_is_compared_by_price_with_a_baseline_whose_price_is_not_known():
    rows = by_line(outcomes(unpriced(learning(price_unit="seconds"), "passive")))
    assert all(PRICE not in outcome.savings for outcome in rows.values())
    assert rows["coal 0.01"].savings[COSTS].factor > 1


def test_prices_far_below_one_are_compared_as_well():
    asked = np.array([100, 200, 400])
    runs = [
        a_run(asked, cost, line=line, spent=asked * 1e-6)
        for line, cost in (("passive", [0.5, 0.4, 0.3]), ("coal", [0.4, 0.3, 0.2]))
    ]
    rows = by_line(outcomes(findings(runs, data=[data_facts(price_unit="days")])))
    assert rows["coal"].savings[PRICE].factor == pytest.approx(2)


def test_the_mean_over_data_counts_what_was_never_reached_and_leaves_it_out_of_the_mean_only():
    asked = 100 * 2 ** np.arange(8)
    runs = []
    for data, factor in (("a", 2.0), ("b", 8.0), ("c", 0.5)):
        for p in range(2):
            runs.append(a_run(asked, 10.0 / asked, data=data, line="passive", permutation=p))
            runs.append(a_run(asked, 10.0 / asked / factor, data=data, permutation=p))
    means = {(mean.line, mean.measure): mean for mean in Analysis.of(findings(runs)).means}
    coal = means["coal", COSTS]
    assert coal.mean == pytest.approx(4)
    assert (coal.interval.low, coal.interval.high) == pytest.approx((4, 4))
    assert (coal.n_reached, coal.n_data) == (2, 3)
    assert coal.median == pytest.approx(2)
    assert means["passive", COSTS].mean == 1


def test_the_same_findings_give_the_same_intervals():
    one, other = (by_line(outcomes(learning()))["coal 0.01"].savings[COSTS] for _ in range(2))
    assert one.interval == other.interval
    assert np.array_equal(one.draws, other.draws)
