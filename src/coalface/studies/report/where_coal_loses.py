"""Where COAL loses, as sentences computed from the numbers."""

from collections.abc import Callable, Iterator

from coalface.report.number_format import factor, listed, number
from coalface.studies.measures import Measure
from coalface.studies.report.analysis import OURS, Analysis
from coalface.studies.report.outcome_text import excess, excess_interval
from coalface.studies.report.savings import Outcome


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
            yield f"{line} ends better than every coal line, {_where(analysis, better, _ends)}."


def _where(analysis: Analysis, found: list[Outcome], describe: Callable[[Outcome], str]) -> str:
    """The datasets, with a few words about each."""
    each = listed([f"{outcome.data} ({describe(outcome)})" for outcome in found])
    if len(analysis.data_names) == 1:
        return f"on {each}"
    return f"on {len(found)} of {len(analysis.data_names)} datasets: {each}"


def _ends_worse(outcome: Outcome) -> str:
    low, high = outcome.excess_interval.low, outcome.excess_interval.high
    text = f"{outcome.test_cost:.4g} against {outcome.baseline_test_cost:.4g}, {excess(outcome)}"
    if interval := excess_interval(outcome):
        text += f", 95 % interval {interval}" + (": this may be chance" if low <= 0 <= high else "")
    return text


def _saves(measure: Measure) -> Callable[[Outcome], str]:
    return lambda outcome: factor(outcome.savings[measure].factor)


def _needs(measure: Measure, against: dict[str, Outcome]) -> Callable[[Outcome], str]:
    def describe(outcome: Outcome) -> str:
        ours = against[outcome.data]
        needed = ours.savings[measure].needed
        theirs = f"{number(needed)} of {ours.line}" if needed == needed else "no coal line gets there"
        return f"{number(outcome.savings[measure].needed)} against {theirs}"

    return describe


def _ends(outcome: Outcome) -> str:
    return f"at {outcome.test_cost:.4g}"


def _beats_all(analysis: Analysis, outcome: Outcome) -> bool:
    ours = analysis.on(outcome.data, analysis.coal_lines)
    return bool(ours) and all(outcome.test_cost < other.test_cost for other in ours)
