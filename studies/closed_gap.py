"""Print how much of the gap between the best single solver and the oracle each line of an ASlib study closes.

``python studies/closed_gap.py [FOLDER ...]``: folders of sweeps or of their tables; by default ``models-aslib`` beside
this file. The data must be under $COALFACE_DATA.

The best single solver has the least mean cost on the training rows; its cost is measured on the test rows. The oracle
takes the best solver of every test row. A line that costs as much as the single solver closes 0 % of the gap, one that
costs as much as the oracle 100 %. A share below 0 is worse than the single solver.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coalface.data.dataset import TrainTest
from coalface.errors import InputError
from coalface.evaluate.summary import read_off
from coalface.studies.cells import fingerprint_of
from coalface.studies.findings import DataFacts, Findings, FinishedRun
from coalface.studies.selection import choose_rates
from coalface.studies.tables import read_tables
from stored_data import load

OURS, RIVAL = "default", "random-forest"
SHARES = (0.2, 0.4)  # of all training costs
CLOSED = (*(f"gap closed at {share:.0%}" for share in SHARES), "at the end")
HEADINGS = ("data", "single solver", "oracle", "line", "costs asked", *CLOSED)


@dataclass(frozen=True)
class Gap:
    """The test cost of the best single solver and of the oracle."""

    single: float
    oracle: float

    @classmethod
    def of(cls, data: TrainTest) -> "Gap":
        """The gap of a scenario; training costs that are unknown do not count."""
        best = int(np.nanargmin(np.nanmean(data.train.cost, axis=0, dtype=np.float64)))
        cost = data.test.cost.astype(np.float64)
        return cls(float(cost[:, best].mean()), float(cost.min(axis=1).mean()))

    def closed(self, test_cost: float) -> float:
        """The share of the gap that a test cost closes; NaN where there is no gap."""
        return (self.single - test_cost) / (self.single - self.oracle) if self.single > self.oracle else np.nan


@dataclass(frozen=True)
class Row:
    """One line on one scenario; all numbers are medians over permutations.

    ``closed`` has the share of the gap closed at each of ``SHARES`` of all costs and at the end.
    """

    data: str
    gap: Gap
    line: str
    costs_asked: float
    closed: tuple[float, ...]


def rows_of(findings: Findings, gaps: dict[str, Gap]) -> Iterator[Row]:
    """One row per scenario and line; a run that ended early keeps its final test cost."""
    sizes = {facts.name: facts.n_train * facts.n_labels for facts in findings.data}
    for choice in choose_rates(findings):
        at = np.array([share * sizes[choice.data] for share in SHARES])
        ends = np.array([run.test_cost for run in choice.runs])
        costs = np.median(np.column_stack([_costs_at(choice.runs, at), ends]), axis=0)
        yield Row(
            data=choice.data,
            gap=gaps[choice.data],
            line=choice.line,
            costs_asked=float(np.median([run.costs_queried for run in choice.runs])),
            closed=tuple(gaps[choice.data].closed(cost) for cost in costs.tolist()),
        )


def wins(findings: Findings) -> tuple[int, int]:
    """On how many scenarios ``OURS`` ends below ``RIVAL`` at as many costs, and on how many both have run.

    Permutation by permutation, the rival is read off where ours ended; the medians of both are compared.
    """
    lines = {(choice.data, choice.line): choice.runs for choice in choose_rates(findings)}
    better, both = 0, 0
    for facts in findings.data:
        ours = {run.permutation: run for run in lines.get((facts.name, OURS), ())}
        theirs = {run.permutation: run for run in lines.get((facts.name, RIVAL), ())}
        shared = sorted(ours.keys() & theirs.keys())
        if not shared:
            continue
        rival = [_costs_at([theirs[p]], np.array([float(ours[p].costs_queried)]))[0, 0] for p in shared]
        better += bool(np.median([ours[p].test_cost for p in shared]) < np.median(rival))
        both += 1
    return better, both


def _costs_at(runs: Sequence[FinishedRun], costs: np.ndarray) -> np.ndarray:
    """The test cost of every run (rows) at these numbers of costs."""
    return read_off([run.points for run in runs if run.points is not None], "costs_queried", costs)


def medians(rows: Sequence[Row]) -> Iterator[tuple[str, int, list[float]]]:
    """Each line, the number of its scenarios with a gap, and the medians over them of the shares closed."""
    for line in dict.fromkeys(row.line for row in rows):
        closed = np.array([row.closed for row in rows if row.line == line and not np.isnan(row.closed[-1])])
        if len(closed):
            yield line, len(closed), np.median(closed, axis=0).tolist()


def _gap_of(facts: DataFacts) -> Gap:
    data = load(facts.name)
    if fingerprint_of(data) != facts.fingerprint:
        raise InputError(f"The data {facts.name!r} must be that of the study, but it has changed. Run the study again.")
    return Gap.of(data)


def as_cells(row: Row) -> list[str]:
    """The row as formatted cells with the columns ``HEADINGS``."""
    ends = [f"{row.gap.single:.4f}", f"{row.gap.oracle:.4f}"]
    return [row.data, *ends, row.line, f"{row.costs_asked:,.0f}", *map(_percent, row.closed)]


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.1f} %"


def _print_table(*rows: Sequence[str]) -> None:
    for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:]):
        print(f"| {' | '.join(cells)} |")
    print()


def main(folders: Sequence[str]) -> None:
    """Print the table of every scenario, the medians over scenarios, and how often the default beats the forest."""
    for folder in folders or [str(Path(__file__).parent / "models-aslib")]:
        findings = read_tables(folder)
        rows = list(rows_of(findings, {facts.name: _gap_of(facts) for facts in findings.data}))
        _print_table(HEADINGS, *map(as_cells, rows))
        lines = [[line, f"{n}", *map(_percent, closed)] for line, n, closed in medians(rows)]
        _print_table(("line", "scenarios with a gap", *CLOSED), *lines)
        better, both = wins(findings)
        if both:
            print(f"At as many costs, {OURS} ends below {RIVAL} on {better} of {both} scenarios.")


if __name__ == "__main__":
    main(sys.argv[1:])
