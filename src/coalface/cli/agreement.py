"""``coalface agreement``."""

import json
import math

import typer

from coalface.cli import options
from coalface.cli.screen import print_table


def agreement(folder: options.ProjectFolder, as_json: options.Json = False) -> None:
    """Show how far the annotators of a project agree with people.

    Agreement is Krippendorff's alpha over the costs that an annotator and people gave for the same examples, with a
    95 % interval: 1 is perfect, 0 is chance. The answers of a judge below its gate are held back. The command only
    reads, so the project's server may run at the same time.
    """
    from contextlib import closing

    from coalface.service.desk.gates import all_judged
    from coalface.service.project.project import Project

    project = Project.open(folder)
    with closing(project.open_store()) as store, store.database.one_moment():
        found = all_judged(project, store.log)
    if as_json:
        typer.echo(json.dumps([one.plain() for one in found]))
        return
    headings = ["annotator", "kind", "alpha", "95 % interval", "examples", "costs", "gate", "held back"]
    rows = []
    for one in found:
        alpha, low, high, units, examples = one.agreement
        numbers = [f"{alpha:.2f}", f"{low:.2f} to {high:.2f}"] if math.isfinite(alpha) else ["-", "-"]
        gate = f"{one.gate:g} ({'open' if one.open else 'closed'})" if one.gate else "-"
        kind = "judge" if one.judge else "person"
        rows.append([one.name, kind, *numbers, f"{examples:,}", f"{units:,}", gate, f"{one.held_back:,}"])
    print_table("Agreement with people", headings, rows)
