"""``coalface agreement``."""

import json
import math
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options
from coalface.cli.screen import print_table

if TYPE_CHECKING:
    from coalface.desk.service.agreements import AgreementRow
    from coalface.desk.service.gates import Judged

_ALPHA = ["alpha", "95 % interval", "examples", "costs"]
ByLabel = Annotated[bool, typer.Option("--by-label", help="One row per label: how far all annotators agree on it.")]


def agreement(folder: options.ProjectFolder, by_label: ByLabel = False, as_json: options.Json = False) -> None:
    """Show how far the annotators of a project agree with people, or with each other on each label.

    Agreement is Krippendorff's alpha over the costs that an annotator and people gave for the same examples, with a
    95 % interval: 1 is perfect, 0 is chance. The answers of a judge below its gate are held back. The command only
    reads, so the project's server may run at the same time.
    """
    from contextlib import closing
    from dataclasses import asdict

    from coalface.desk.project.project import Project
    from coalface.desk.service.agreements import label_agreements
    from coalface.desk.service.gates import all_judged, counted_answers

    project = Project.open(folder)
    with closing(project.open_store()) as store, store.database.one_moment():
        counters = counted_answers(project, store.log)
    if by_label:
        labels = label_agreements(counters, project.offered)
        _show_labels(labels) if not as_json else typer.echo(json.dumps([asdict(one) for one in labels]))
    else:
        found = all_judged(counters)
        _show_annotators(found) if not as_json else typer.echo(json.dumps([one.plain() for one in found]))


def _show_labels(found: "list[AgreementRow]") -> None:
    rows = [[one.name, *_numbers(one.alpha, one.low, one.high), f"{one.examples:,}", f"{one.costs:,}"] for one in found]
    print_table("Agreement of all annotators", ["label", *_ALPHA], rows)


def _show_annotators(found: "list[Judged]") -> None:
    rows = []
    for one in found:
        alpha, low, high, units, examples = one.agreement
        gate = f"{one.gate:g} ({'open' if one.open else 'closed'})" if one.gate else "-"
        counts = [f"{examples:,}", f"{units:,}", gate, f"{one.held_back:,}"]
        rows.append([one.name, "judge" if one.judge else "person", *_numbers(alpha, low, high), *counts])
    print_table("Agreement with people", ["annotator", "kind", *_ALPHA, "gate", "held back"], rows)


def _numbers(alpha: float | None, low: float | None, high: float | None) -> list[str]:
    if alpha is None or low is None or high is None or not math.isfinite(alpha):
        return ["-", "-"]
    return [f"{alpha:.2f}", f"{low:.2f} to {high:.2f}"]
