"""The headline of a report, a few large numbers each with its meaning, and where COAL loses, as sentences."""

from collections.abc import Callable, Iterator

from coalface.report import factor, listed, number, number_format
from coalface.studies.findings import COSTS, Measure
from coalface.studies.report import outcome_text
from coalface.studies.report.outcome_text import excess, excess_interval
from coalface.studies.report.savings import OURS, Analysis, LineOutcome

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


def _over_many(best: list[LineOutcome], analysis: Analysis) -> dict[str, str]:
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
        text, number = _trade(min(best, key=_relative_excess), analysis, where="on any dataset")
        facts[text] = number
    some = _kind_of_line(analysis)
    facts[f"datasets on which some {some} gets as good as {baseline} at its end"] = f"{len(reached)} of {len(best)}"
    return facts


def _relative_excess(outcome: LineOutcome) -> float:
    """The excess relative to the baseline's final test cost; the excess itself if that is 0."""
    return outcome.excess / (outcome.baseline_test_cost if outcome.baseline_test_cost > 0 else 1.0)


def _reaches(outcome: LineOutcome) -> bool:
    return outcome.savings[COSTS].factor > 0


def _saving(outcome: LineOutcome, analysis: Analysis) -> tuple[str, str]:
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


def _trade(outcome: LineOutcome, analysis: Analysis, where: str = "there") -> tuple[str, str]:
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


def where_coal_loses(analysis: Analysis) -> list[str]:
    """One sentence per way in which a coal line loses, and to which line; none if it never loses.

    It loses to the baseline if it never reaches the baseline's final test cost, or needs more to reach it. It loses to
    another line if that line needs less, or ends better, than the best coal line.
    """
    if not analysis.coal_lines or not analysis.outcomes:
        return []
    return [*_to_the_baseline(analysis), *_to_others(analysis)]


def no_losses_text(analysis: Analysis) -> str:
    """The sentence for a study without losses."""
    baseline = analysis.findings.baseline
    if not analysis.outcomes:
        return f"Nothing can be compared: {baseline} has no runs to compare with."
    if not analysis.coal_lines and analysis.rules[baseline] == OURS:
        if len(analysis.rules) == 1:
            return f"The baseline, {baseline}, is the only line, so there is nothing to compare it with."
        return f"The baseline, {baseline}, is the only coal line. The savings above compare the other lines with it."
    if not analysis.coal_lines:
        return "No line of this study uses the coal rule."
    return (
        f"Nowhere in this study: every coal line gets as good as {baseline} at its end on all data, "
        "needs less for it, and no other line needs less, or ends better, than the best coal line."
    )


def _to_the_baseline(analysis: Analysis) -> Iterator[str]:
    baseline = analysis.findings.baseline
    for line in analysis.coal_lines:
        mine = [outcome for outcome in analysis.outcomes if outcome.line == line]
        worse = [outcome for outcome in mine if outcome.excess > 0]
        if worse:
            yield (
                f"{line} ends worse than {baseline}, so that it never reaches its final test cost, "
                f"{_where(analysis, worse, _ends_worse)}."
            )
        for measure in analysis.measures:
            slower = [one for one in mine if measure in one.savings and 0 < one.savings[measure].factor < 1]
            if slower:
                yield (
                    f"{line} needs {measure.more} than {baseline} for the same test cost, "
                    f"{_where(analysis, slower, _saves(measure))}."
                )


def _to_others(analysis: Analysis) -> Iterator[str]:
    others = [line for line in analysis.rules if line not in (*analysis.coal_lines, analysis.findings.baseline)]
    for line in others:
        for measure in analysis.measures:
            ahead = []
            for data in analysis.data_names:
                other, ours = analysis.best(data, [line], measure), analysis.best(data, analysis.coal_lines, measure)
                if other and ours and other.savings[measure].factor > ours.savings[measure].factor:
                    ahead.append((other, ours))
            if ahead:
                against = {other.data: ours for other, ours in ahead}
                where = _where(analysis, [other for other, _ in ahead], _needs(measure, against))
                yield f"{line} needs {measure.less} than the best coal line to get as good, {where}."
        better = [outcome for outcome in analysis.outcomes if outcome.line == line and _beats_all(analysis, outcome)]
        if better:
            ends = _where(analysis, better, lambda outcome: f"at {outcome.test_cost:.4g}")
            yield f"{line} ends better than every coal line, {ends}."


def _where(analysis: Analysis, found: list[LineOutcome], describe: Callable[[LineOutcome], str]) -> str:
    """The datasets, with a few words about each."""
    each = listed([f"{outcome.data} ({describe(outcome)})" for outcome in found])
    if len(analysis.data_names) == 1:
        return f"on {each}"
    return f"on {len(found)} of {len(analysis.data_names)} datasets: {each}"


def _ends_worse(outcome: LineOutcome) -> str:
    low, high = outcome.excess_interval.low, outcome.excess_interval.high
    text = f"{outcome.test_cost:.4g} against {outcome.baseline_test_cost:.4g}, {excess(outcome)}"
    if interval := excess_interval(outcome):
        text += f", 95 % interval {interval}" + (": this may be chance" if low <= 0 <= high else "")
    return text


def _saves(measure: Measure) -> Callable[[LineOutcome], str]:
    return lambda outcome: factor(outcome.savings[measure].factor)


def _needs(measure: Measure, against: dict[str, LineOutcome]) -> Callable[[LineOutcome], str]:
    def describe(outcome: LineOutcome) -> str:
        ours = against[outcome.data]
        needed = ours.savings[measure].needed
        theirs = f"{number(needed)} of {ours.line}" if needed == needed else "no coal line gets there"
        return f"{number(outcome.savings[measure].needed)} against {theirs}"

    return describe


def _beats_all(analysis: Analysis, outcome: LineOutcome) -> bool:
    ours = analysis.on(outcome.data, analysis.coal_lines)
    return bool(ours) and all(outcome.test_cost < other.test_cost for other in ours)
