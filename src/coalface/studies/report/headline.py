"""What to remember of a study: a few large numbers, each with what it means."""

from coalface.studies.measures import COSTS
from coalface.studies.report import number_format as wording
from coalface.studies.report.analysis import Analysis
from coalface.studies.report.savings import Outcome

_MOST_FACTS = 4


def facts_of(analysis: Analysis) -> dict[str, str]:
    """The few numbers to remember, by what they mean: the largest savings, or their mean over many datasets.

    Where no line gets as good as the baseline ends up, it is what the closest one gives up and gets for it.
    Empty if there is nothing beside the baseline.
    """
    best = [one for data in analysis.data_names if (one := analysis.best(data, analysis.shown_lines)) is not None]
    if len(best) <= _MOST_FACTS:
        return dict(_saving(one, analysis) if _reaches(one) else _trade(one, analysis) for one in best)
    return _over_many(best, analysis)


def _over_many(best: list[Outcome], analysis: Analysis) -> dict[str, str]:
    """The facts of many datasets, given the best line on each."""
    baseline, facts = analysis.findings.baseline, {}
    reached = [one for one in best if _reaches(one)]
    if (mean := analysis.best_mean()) is not None and mean.n_reached:
        interval = wording.factor_interval(mean.interval)
        facts[
            f"fewer costs than {baseline} for the same test cost: the mean of {mean.line} over the {mean.n_reached} of "
            f"{mean.n_data} datasets where it gets there" + (f" (95 % interval {interval})" if interval else "")
        ] = wording.factor(mean.mean)
        facts[f"the median of {mean.line} over all datasets, those it never gets there on included"] = (
            wording.factor(mean.median) if mean.median > 0 else "no saving"
        )
    if reached:
        top = max(reached, key=lambda one: one.savings[COSTS].factor)
        facts[f"the largest saving: {top.line} on {top.data}"] = wording.factor(top.savings[COSTS].factor)
    else:
        text, number = _trade(min(best, key=wording.relative_excess), analysis, where="on any dataset")
        facts[text] = number
    some = _kind_of_line(analysis)
    facts[f"datasets on which some {some} gets as good as {baseline} ends up"] = f"{len(reached)} of {len(best)}"
    return facts


def _reaches(outcome: Outcome) -> bool:
    return outcome.savings[COSTS].factor > 0


def _saving(outcome: Outcome, analysis: Analysis) -> tuple[str, str]:
    """What a line saves that gets as good as the baseline."""
    saving = outcome.savings[COSTS]
    notes = [f"95 % interval {interval}"] if (interval := wording.factor_interval(saving.interval)) else []
    if saving.interval.low <= 0:
        notes.append(f"no saving in {wording.percent(1 - saving.reached)} of draws")
    text = (
        f"fewer costs than {analysis.findings.baseline} for the same test cost on {outcome.data}: {outcome.line} needs "
        f"{saving.needed:,.0f} instead of {saving.baseline_needed:,.0f}"
    )
    return text + (f" ({', '.join(notes)})" if notes else ""), wording.factor(saving.factor)


def _trade(outcome: Outcome, analysis: Analysis, where: str = "there") -> tuple[str, str]:
    """What a line asks for that never gets as good as the baseline, and by how much it ends worse."""
    baseline = analysis.findings.baseline
    ours, theirs = outcome.costs_asked, analysis.baseline_asked(outcome)
    number, compared = _compared_costs(ours, theirs)
    return (
        f"{compared} {baseline}, ending {wording.above(outcome)} its test cost: {outcome.line} on {outcome.data} "
        f"({wording.number(ours)} costs instead of {wording.number(theirs)}, {outcome.test_cost:.4g} instead of "
        f"{outcome.baseline_test_cost:.4g}). No {_kind_of_line(analysis)} gets as good as {baseline} {where}; this one "
        "comes closest."
    ), number


def _compared_costs(ours: float, theirs: float) -> tuple[str, str]:
    """How many times fewer or more costs one asked for than the other, and which of these it is.

    >>> _compared_costs(50, 200), _compared_costs(200, 200), _compared_costs(200, 100), _compared_costs(0, 100)
    (('4.0x', 'fewer costs than'), ('1.0x', 'as many costs as'), ('2.0x', 'more costs than'), ('0', 'costs, unlike'))
    """
    if ours == 0:
        return "0", "costs, unlike"
    if theirs < ours:
        number, compared = wording.factor(ours / max(theirs, 1.0)), "more costs than"
    else:
        number, compared = wording.factor(theirs / ours), "fewer costs than"
    return number, "as many costs as" if number == "1.0x" else compared


def _kind_of_line(analysis: Analysis) -> str:
    return "coal line" if analysis.coal_lines else "line"
