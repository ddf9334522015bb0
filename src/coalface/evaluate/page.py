"""An evaluation report as an HTML page that needs nothing else."""

from coalface.evaluate.figures import draw_calibration, draw_costs, draw_mistakes
from coalface.evaluate.report import EvaluationReport
from coalface.evaluate.tables import cost_text, facts_of, interval_text, notice_of, tables_of
from coalface.report import html_page

_MISTAKES_DRAWN = 10


def evaluation_page(report: EvaluationReport, title: str) -> str:
    """The page as HTML text: numbers to remember, figures, tables, and the features of the costliest labels."""
    figures = {
        "Mean cost": draw_costs(report),
        "Calibration of predicted costs": draw_calibration(report.calibration.bins),
    }
    if report.mistakes:
        figures["Costliest mistakes"] = draw_mistakes(report.mistakes[:_MISTAKES_DRAWN])
    return html_page.page(
        "evaluation.html",
        title,
        f"{str(report)[0].upper()}{str(report)[1:]}.",
        facts=_large_facts(report),
        notice=notice_of(report),
        tables=tables_of(report),
        figures=figures,
        numbers=facts_of(report),
        feature_headings=("feature", _unit_of_features(report)),
        features={
            label: [[one.name, cost_text(one.effect)] for one in found] for label, found in report.features.items()
        },
    )


def _large_facts(report: EvaluationReport) -> dict[str, str]:
    """The few numbers to remember, by what they mean."""
    meaning = f"mean cost per row, 95 % interval {interval_text(report.cost)}"
    facts = {meaning: cost_text(report.cost.mean)}
    for one in report.references:
        facts[f"mean cost of {one.name}"] = cost_text(one.cost.mean)
    return facts


def _unit_of_features(report: EvaluationReport) -> str:
    units = [one.unit for found in report.features.values() for one in found[:1]]
    return "effect on the cost" if units[:1] == ["cost"] else "share of splits"
