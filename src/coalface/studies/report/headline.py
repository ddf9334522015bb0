"""The headline of a report: a few large numbers, each with its meaning."""

from coalface.report import number_format
from coalface.studies.measures import COSTS
from coalface.studies.report import outcome_text
from coalface.studies.report.analysis import Analysis
from coalface.studies.report.savings import Outcome

_MOST_FACTS = 4


def facts_of(analysis: Analysis) -> dict[str, str]:
    """The few numbers to remember, by their meaning: the largest savings, or their mean over many datasets.

    Where no line gets as good as the baseline is at its end: what the closest one loses and saves. Empty if the
    baseline is the only line.
    """
    best = [one for data in analysis.data_names if (one := analysis.best(data, analysis.shown_lines)) is not None]
    if len(best) <= _MOST_FACTS:
        return dict(_saving(one, analysis) if _reaches(one) else _trade(one, analysis) for one in best)
    return _over_many(best, analysis)


def _over_many(best: list[Outcome], analysis: Analysis) -> dict[str, str]:
    """The facts about many datasets, given the best line on each."""
    baseline, facts = analysis.findings.baseline, {}
    reached = [one for one in best if _reaches(one)]
    if (mean := analysis.best_mean()) is not None and mean.n_reached:
        interval = outcome_text.factor_interval(mean.interval)
        facts[
            f"fewer costs than {baseline} for the same test cost: the mean of {mean.line} over the {mean.n_reached} of "
            f"{mean.n_data} datasets where it gets there" + (f" (95 % interval {interval})" if interval else "")
        ] = number_format.factor(mean.mean)
        facts[f"the median of {mean.line} over all datasets, those it never gets there on included"] = (
            number_format.factor(mean.median) if mean.median > 0 else "no saving"
        )
    if reached:
        top = max(reached, key=lambda one: one.savings[COSTS].factor)
        facts[f"the largest saving: {top.line} on {top.data}"] = number_format.factor(top.savings[COSTS].factor)
    else:
        text, number = _trade(min(best, key=outcome_text.relative_excess), analysis, where="on any dataset")
        facts[text] = number
    some = _kind_of_line(analysis)
    facts[f"datasets on which some {some} gets as good as {baseline} at its end"] = f"{len(reached)} of {len(best)}"
    return facts


def _reaches(outcome: Outcome) -> bool:
    return outcome.savings[COSTS].factor > 0


def _saving(outcome: Outcome, analysis: Analysis) -> tuple[str, str]:
    """The saving of a line that gets as good as the baseline."""
    saving = outcome.savings[COSTS]
    notes = [f"95 % interval {interval}"] if (interval := outcome_text.factor_interval(saving.interval)) else []
    if saving.interval.low <= 0:
        notes.append(f"no saving in {number_format.percent(1 - saving.reached)} of draws")
    text = (
        f"fewer costs than {analysis.findings.baseline} for the same test cost on {outcome.data}: {outcome.line} needs "
        f"{saving.needed:,.0f} instead of {saving.baseline_needed:,.0f}"
    )
    return text + (f" ({', '.join(notes)})" if notes else ""), number_format.factor(saving.factor)


def _trade(outcome: Outcome, analysis: Analysis, where: str = "there") -> tuple[str, str]:
    """For a line that never gets as good as the baseline: what it asks for, and by how much it ends worse."""
    baseline = analysis.findings.baseline
    ours, theirs = outcome.costs_asked, analysis.baseline_asked(outcome)
    number, compared = _compared_costs(ours, theirs)
    return (
        f"{compared} {baseline}, ending {outcome_text.above(outcome)} its test cost: {outcome.line} on {outcome.data} "
        f"({number_format.number(ours)} costs instead of {number_format.number(theirs)}, {outcome.test_cost:.4g} "
        f"instead of {outcome.baseline_test_cost:.4g}). No {_kind_of_line(analysis)} gets as good as {baseline} "
        f"{where}; this one comes closest."
    ), number


def _compared_costs(ours: float, theirs: float) -> tuple[str, str]:
    """How many times fewer or more costs one asked for than the other, and the words for it.

    >>> _compared_costs(50, 200), _compared_costs(200, 200), _compared_costs(200, 100), _compared_costs(0, 100)
    (('4.0x', 'fewer costs than'), ('1.0x', 'as many costs as'), ('2.0x', 'more costs than'), ('0', 'costs, unlike'))
    """
    if ours == 0:
        return "0", "costs, unlike"
    if theirs < ours:
        number, compared = number_format.factor(ours / max(theirs, 1.0)), "more costs than"
    else:
        number, compared = number_format.factor(theirs / ours), "fewer costs than"
    return number, "as many costs as" if number == "1.0x" else compared


def _kind_of_line(analysis: Analysis) -> str:
    return "coal line" if analysis.coal_lines else "line"
