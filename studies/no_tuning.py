"""Print the main table of no-tuning.md from the results of the studies ``default-*``.

``python studies/no_tuning.py [FOLDER ...]``: folders of sweeps or of their tables; by default those beside this file.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coalface.evaluate.summary import band_over, questions_needed
from coalface.studies.findings import Findings, FinishedRun
from coalface.studies.report.savings import DRAWS, DrawnInterval, medians_of_draws
from coalface.studies.selection import choose_rates
from coalface.studies.tables import read_tables

OURS, TUNED, RECOMMENDED = "online", "hindsight", "published"
KINDS = (RECOMMENDED, "vw", TUNED, OURS)
HEADINGS = (
    "data",
    *(f"AUC, {OURS} / {kind}" for kind in (TUNED, RECOMMENDED)),
    "passive's best end",
    "passive asks",
    *(f"{kind} needs" for kind in KINDS),
    f"{TUNED} / {OURS}",
)


@dataclass(frozen=True)
class Ratio:
    """The median over permutations of our AUC divided by another's, with a 95 % bootstrap interval."""

    median: float
    interval: DrawnInterval

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.interval.low:.3f}-{self.interval.high:.3f})"


@dataclass(frozen=True)
class Row:
    """One dataset. A kind of line is the first word of its name.

    ``target`` is passive's final test cost at its best learning rate. ``needed`` has the costs that each kind of the
    study needs to get as good, NaN if it never does. Of several lines of a kind the best one counts: by median AUC in
    ``aucs``, by need in ``needed``.
    """

    data: str
    aucs: dict[str, Ratio]
    target: float
    passive_asks: float
    needed: dict[str, float]

    @property
    def saving(self) -> float:
        """The costs that hindsight needs divided by those of the online model; NaN if one of them never gets there."""
        return self.needed[TUNED] / self.needed[OURS]


def rows_of(findings: Findings) -> Iterator[Row]:
    """One row per dataset of a study."""
    choices = choose_rates(findings)
    for facts in findings.data:
        lines: dict[str, list[Sequence[FinishedRun]]] = {}
        for choice in choices:
            if choice.data == facts.name:
                lines.setdefault(choice.line.split()[0], []).append(choice.runs)
        best = {kind: min(found, key=lambda runs: _median(runs, "auc")) for kind, found in lines.items()}
        passive = [run for run in findings.runs if run.data == facts.name and run.line == "passive"]
        target = _best_end(passive)
        yield Row(
            data=facts.name,
            aucs={kind: _ratio(best[OURS], best[kind]) for kind in (TUNED, RECOMMENDED)},
            target=target,
            passive_asks=_median(passive, "costs_queried"),
            needed={kind: _least_needed(lines[kind], target) for kind in KINDS if kind in lines},
        )


def _median(runs: Sequence[FinishedRun], field: str) -> float:
    return float(np.median([getattr(run, field) for run in runs]))


def _best_end(runs: Sequence[FinishedRun]) -> float:
    rates = {run.learning_rate for run in runs}
    return min(_median([run for run in runs if run.learning_rate == rate], "test_cost") for rate in rates)


def _ratio(ours: Sequence[FinishedRun], theirs: Sequence[FinishedRun]) -> Ratio:
    against = {run.permutation: run.auc for run in theirs}
    ratios = np.array([[run.auc / against[run.permutation]] for run in ours])
    draws = np.random.default_rng(0).integers(len(ratios), size=(DRAWS, len(ratios)))
    low, high = np.percentile(medians_of_draws(ratios, draws), (2.5, 97.5))
    return Ratio(float(np.median(ratios)), DrawnInterval(float(low), float(high)))


def _least_needed(lines: Sequence[Sequence[FinishedRun]], target: float) -> float:
    bands = [band_over([run.points for run in runs if run.points is not None]) for runs in lines]
    needed = [questions_needed(band, target) for band in bands]
    return min((costs for costs in needed if not np.isnan(costs)), default=np.nan)


def as_cells(row: Row) -> list[str]:
    """The row as formatted cells with the columns ``HEADINGS``."""
    return [
        row.data,
        *map(str, row.aucs.values()),
        f"{row.target:.4f}",
        f"{row.passive_asks:,.0f}",
        *(_costs(row.needed[kind]) if kind in row.needed else "" for kind in KINDS),
        "" if np.isnan(row.saving) else f"{row.saving:.2f}",
    ]


def _costs(needed: float) -> str:
    return "never" if np.isnan(needed) else f"{needed:,.0f}"


def over_all(rows: Sequence[Row]) -> str:
    """A summary of several datasets in two sentences; means are geometric."""
    ratios = [row.aucs[TUNED] for row in rows]
    better = sum(ratio.interval.high < 1 for ratio in ratios)
    worse = sum(ratio.interval.low > 1 for ratio in ratios)
    ours, theirs = (sum(not np.isnan(row.needed[kind]) for row in rows) for kind in (OURS, TUNED))
    savings = [row.saving for row in rows if not np.isnan(row.saving)]
    mean_of_savings = f", where {TUNED} needs {_mean(savings):.2f} times as much" if savings else ""
    return (
        f"{len(rows)} datasets: the AUC of {OURS} is {_mean([ratio.median for ratio in ratios]):.3f} times that of "
        f"{TUNED}, with an interval below 1 on {better} and above 1 on {worse}. {OURS} gets as good as passive's best "
        f"end on {ours}, {TUNED} on {theirs}, both on {len(savings)}{mean_of_savings}."
    )


def _mean(factors: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(factors))))


def main(folders: Sequence[str]) -> None:
    """Print the table, then a summary of each study with several datasets and one of all others."""
    found = folders or sorted(str(path.parent) for path in Path(__file__).parent.glob("default-*/sweep.json"))
    studies = [list(rows_of(read_tables(folder))) for folder in found]
    for cells in (HEADINGS, ["---"] * len(HEADINGS), *(as_cells(row) for rows in studies for row in rows)):
        print(f"| {' | '.join(cells)} |")
    alone = [row for rows in studies for row in rows if len(rows) == 1]
    for several in (alone, *(rows for rows in studies if len(rows) > 1)):
        if several:
            print(f"\n{over_all(several)}")


if __name__ == "__main__":
    main(sys.argv[1:])
