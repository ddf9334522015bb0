"""The tables of an evaluation report as text, the same for the terminal and the page."""

from typing import NamedTuple

from coalface.evaluate.estimate import Estimate
from coalface.evaluate.report import EvaluationReport
from coalface.report.number_format import counted, percent

_MOST_ROWS = 10
LEARNER = "the learner"
_HOW_TO_READ_BINS = "Each line is the mean of costs with similar predictions. A good model has gaps near 0."


class EvaluationTable(NamedTuple):
    """A table with its title and a sentence on how to read it."""

    title: str
    headings: tuple[str, ...]
    rows: list[list[str]]
    note: str = ""


def tables_of(report: EvaluationReport) -> list[EvaluationTable]:
    """All tables, the most important first; those without rows are left out."""
    tables = [_costs(report), _mistakes(report), _labels(report), _calibration(report)]
    return [table for table in tables if table.rows]


def facts_of(report: EvaluationReport) -> dict[str, str]:
    """The numbers about rows and ranges, by what they mean."""
    coverage, calibration = report.coverage, report.calibration
    facts = {
        "rows that could be judged": f"{report.judged:,} of {report.rows:,}",
        "known costs of these rows": f"{report.known_costs:,}",
        "total cost": cost_text(report.total_cost),
        "mean gap between predicted and known cost": cost_text(calibration.mean_gap),
    }
    if report.abstained:
        facts["rows without a label, because the learner abstained"] = f"{report.abstained:,}"
    if calibration.answers_predicted is not None:
        facts["mean predicted cost of the predicted labels"] = cost_text(calibration.answers_predicted)
    facts["known costs inside their range"] = percent(coverage.costs, 1)
    facts["mean costs of similar predictions inside their mean range"] = percent(coverage.means, 1)
    facts["rows whose cheapest label the rule would rule out"] = percent(coverage.ruled_out, 1)
    return facts


def notice_of(report: EvaluationReport) -> str:
    """What limits the report: rows that could not be judged; empty if all could."""
    missing = report.rows - report.judged
    if not missing:
        return ""
    return (
        f"{counted(missing, 'row')} could not be judged, because the cost of the predicted label is not known. "
        "The cheapest label of a row is the cheapest of its known costs."
    )


def cost_text(value: float) -> str:
    """A cost, or a sum of costs.

    >>> cost_text(0.123456), cost_text(12345.678), cost_text(-0.0)
    ('0.1235', '12,346', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.4g}"


def interval_text(estimate: Estimate) -> str:
    """The interval of an estimate, if it needs one.

    >>> interval_text(Estimate(0.2, 0.15, 0.25, 100))
    '0.15 to 0.25'
    """
    if estimate.is_exact:
        return "exact"
    return f"{cost_text(estimate.low)} to {cost_text(estimate.high)}"


def _costs(report: EvaluationReport) -> EvaluationTable:
    headings = ("prediction", "mean cost", "95 % interval", "rows", "minus the learner", "95 % interval")
    own = report.cost
    rows = [[LEARNER, cost_text(own.mean), interval_text(own), f"{own.rows:,}", "", ""]]
    for one in report.references:
        cost, difference = one.cost, one.difference
        rows.append(
            [
                one.name,
                cost_text(cost.mean),
                interval_text(cost),
                f"{cost.rows:,}",
                cost_text(difference.mean),
                interval_text(difference),
            ]
        )
    return EvaluationTable(
        "Mean cost",
        headings,
        rows,
        "The single label is the one with the least mean cost on these rows. Intervals are Wilson's. Differences are "
        "between costs of the same rows.",
    )


def _mistakes(report: EvaluationReport) -> EvaluationTable:
    rows = [
        [
            f"{one.truth} -> {one.predicted}",
            f"{one.rows:,}",
            cost_text(one.mean_cost),
            cost_text(one.total_cost),
            cost_text(one.extra_cost),
        ]
        for one in report.mistakes[:_MOST_ROWS]
    ]
    headings = ("true -> predicted label", "rows", "mean cost", "total cost", "beyond the cheapest")
    return EvaluationTable(
        "Costliest mistakes", headings, rows, _and_more(len(report.mistakes), "kind", " of mistakes")
    )


def _labels(report: EvaluationReport) -> EvaluationTable:
    rows = [
        [
            one.label,
            f"{one.rows:,}",
            cost_text(one.mean_cost),
            cost_text(one.total_cost),
            "" if one.share is None else percent(one.share, 1),
        ]
        for one in report.labels[:_MOST_ROWS]
    ]
    headings = ("true label", "rows", "mean cost", "total cost", "share of the total")
    return EvaluationTable("Cost by true label", headings, rows, _and_more(len(report.labels), "label"))


def _calibration(report: EvaluationReport) -> EvaluationTable:
    rows = [
        [
            cost_text(one.predicted),
            cost_text(one.cost),
            cost_text(one.predicted - one.cost),
            f"{cost_text(one.lowest)} to {cost_text(one.highest)}",
            f"{one.costs:,}",
        ]
        for one in report.calibration.bins
    ]
    headings = ("mean predicted cost", "mean known cost", "gap", "mean range", "costs")
    return EvaluationTable("Calibration of predicted costs", headings, rows, _HOW_TO_READ_BINS)


def _and_more(n: int, noun: str, rest: str = "") -> str:
    """A note on rows that are not shown; empty if all are."""
    return f"{counted(n - _MOST_ROWS, f'more {noun}')}{rest} not shown." if n > _MOST_ROWS else ""
