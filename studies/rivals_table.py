"""Print the table of learners from the literature from the results of the studies beside this file.

``python studies/rivals_table.py``: the area under the test cost (less is better), the end, and the costs needed to get
as good as passive's best, as medians over the permutations that all of a dataset's lines have.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coalface.evaluate.summary import band_over, questions_needed
from coalface.studies.findings import FinishedRun
from coalface.studies.selection import choose_rates
from coalface.studies.tables import read_tables

STUDIES = Path(__file__).parent
DATA = ("digits", "digits-distance", "newsgroups20", "in20", "mnist", "clinc150", "rcv1", "conll2003", "ud-ewt", "in40")
DENSE = ("digits", "digits-distance", "mnist")  # where the default is not the online model
STUDIES_OF_RIVALS = tuple(
    f"rivals-{kind}" for kind in ("costs", "costs-large", "labels", "labels-large", "labels-clinc150")
)
RIVALS = ("regcb-epochs", "online-regression", "badge", "iwal")
COLUMNS = ("passive", "published", "online", "default", *RIVALS)
SCENARIOS = ("default", "online", "regcb-epochs", "online-regression")

Lines = dict[str, list[FinishedRun]]


def lines_of(name: str) -> dict[str, Lines]:
    """The runs of a study by data and line, at the best learning rate of each line."""
    found: dict[str, Lines] = {}
    if (STUDIES / name).exists():
        for choice in choose_rates(read_tables(STUDIES / name)):
            found.setdefault(choice.data, {})[choice.line] = list(choice.runs)
    return found


def lines_on(data: str) -> Lines:
    """All lines that were run on a dataset; of a rival with several settings, the one with the least area."""
    ours = lines_of(f"default-{data}")[data]
    found = {"passive": ours["passive"], "published": ours["published"], "online": ours["online"]}
    if data not in DENSE:
        found["default"] = ours["online"]
    elif data in (models := lines_of("models-digits")):
        found["default"] = models[data]["default"]
    for study in STUDIES_OF_RIVALS:
        for line, runs in sorted(lines_of(study).get(data, {}).items(), key=lambda each: -area(each[1])):
            found[line.split()[0]] = runs
    return shared(found)


def shared(lines: Lines) -> Lines:
    """The runs of the permutations that all lines have."""
    common = set.intersection(*({run.permutation for run in runs} for runs in lines.values()))
    return {line: [run for run in runs if run.permutation in common] for line, runs in lines.items()}


def area(runs: list[FinishedRun]) -> float:
    """The median area."""
    return float(np.median([run.auc for run in runs]))


def end(runs: list[FinishedRun]) -> float:
    """The median test cost at the end."""
    return float(np.median([run.test_cost for run in runs]))


def cell(runs: list[FinishedRun], target: float) -> str:
    """Area, end, and costs needed."""
    needed = questions_needed(band_over([run.points for run in runs if run.points is not None]), target)
    return f"{area(runs):.2f}, {end(runs):.3f}, " + ("never" if np.isnan(needed) else f"{needed:,.0f}")


def table() -> Iterator[str]:
    """The table as Markdown: a row per dataset on which a rival was run."""
    yield "| " + " | ".join(("data", "permutations", *COLUMNS)) + " |"
    yield "|---" * (2 + len(COLUMNS)) + "|"
    for data in DATA:
        lines = lines_on(data)
        if not set(RIVALS).isdisjoint(lines):
            target = end(lines["passive"])
            cells = (cell(lines[name], target) if name in lines else "" for name in COLUMNS)
            yield "| " + " | ".join((data, f"{len(lines['passive'])}", *cells)) + " |"


def scenarios() -> Iterator[str]:
    """The mean over solver scenarios of each line's area, as a share of the default's, and where it is smaller."""
    ours, rivals = lines_of("models-aslib-ten"), lines_of("rivals-aslib")
    ratios: dict[str, list[float]] = {}
    for data, found in rivals.items():
        every = {"default": ours[data]["default"], "online": ours[data]["default-online"]}
        for line, runs in sorted(found.items(), key=lambda each: -area(each[1])):
            every[line.split()[0]] = runs
        lines = shared(every)
        for name in SCENARIOS:
            ratios.setdefault(name, []).append(area(lines[name]) / area(lines["default"]))
    for name, found_ratios in ratios.items():
        smaller = sum(ratio < 1 for ratio in found_ratios)
        yield f"{name}: {np.mean(found_ratios):.3f} of the default's area, smaller on {smaller} of {len(found_ratios)}"


if __name__ == "__main__":
    sys.stdout.write("\n".join([*table(), *scenarios(), ""]))
