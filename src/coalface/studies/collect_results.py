"""Collect the results of a sweep into the findings of a report."""

from pathlib import Path

import numpy as np

from coalface.errors import FileFormatError, InputError
from coalface.evaluate import Curve
from coalface.studies.cells import Cell, Record, cells_of
from coalface.studies.findings import Findings, FinishedRun, Points
from coalface.studies.learners import TUNED, as_rate
from coalface.studies.report import outcome_text
from coalface.studies.results import Results, Session
from coalface.studies.study import Line, Study


def collect_results(results: Results) -> Findings:
    """The findings of the last session's study: its finished, failed and missing cells."""
    session = results.last
    if session is None:
        raise _empty(results.folder)
    study = session.study
    fingerprints = {data.name: data.fingerprint for data in session.data}
    lines = {line.name: line for line in study.lines}
    runs: list[FinishedRun] = []
    failures, missing = [], 0
    for cell in cells_of(study, fingerprints, session.code):
        if cell.key in results.finished:
            runs.append(_run(cell, results.finished[cell.key], lines[cell.line]))
        elif cell.key in results.failed:
            settings = ", ".join(f"{name} {value}" for name, value in cell.settings)
            where = f"{cell.data}, {cell.line} ({settings}), permutation {cell.permutation}"
            failures.append(f"{where}: {results.failed[cell.key]}")
        else:
            missing += 1
    if not runs:
        raise _empty(results.folder)
    return Findings(
        name=study.name,
        title=study.title,
        text=study.text,
        baseline=study.baseline,
        lines=tuple(lines),
        data=session.data,
        runs=tuple(runs),
        settings=_settings(study),
        versions=session.versions,
        timings=_timings(results.sessions, runs),
        failures=tuple(failures),
        missing=missing,
    )


def _empty(folder: Path) -> InputError:
    return InputError(f"{folder} has no finished run yet. Run `coalface sweep` with this folder first.")


def _run(cell: Cell, record: Record, line: Line) -> FinishedRun:
    """The run of a cell, with the cell's names; an earlier study may have used other names for the same run."""
    try:
        curve = Curve.from_values(record["curve"])
    except FileFormatError as problem:
        raise FileFormatError(f"The record of the cell {record['key']} is damaged: {problem}") from None
    spent = np.full(len(curve.test_cost), np.nan) if curve.spent is None else curve.spent
    costs = np.ceil(curve.price).astype(np.int64)  # a true label counts as its price
    return FinishedRun(
        data=cell.data,
        line=line.name,
        rule=line.rule,
        learning_rate=as_rate(dict(cell.settings).get(TUNED, 0.0)),
        permutation=cell.permutation,
        asks=line.learner.asks,
        auc=curve.auc,
        costs_queried=int(costs[-1]),
        examples_queried=int(curve.examples_queried[-1]),
        rounds=int(curve.rounds[-1]),
        test_cost=float(curve.test_cost[-1]),
        spent=float(spent[-1]),
        seconds=float(record["seconds"]),
        points=Points(costs, curve.examples_queried, curve.test_cost, spent),
        auc_published=curve.auc_published,
    )


def _settings(study: Study) -> dict[str, str]:
    seeds = f"{len(study.permutations)}, seeds {study.permutations[0]} to {study.permutations[-1]}"
    shown = {"permutations": seeds, "checkpoints": str(study.checkpoints), "baseline": study.baseline}
    for line in study.lines:
        values = ", ".join(f"{name} {value}" for name, value in line.settings.items())
        rates = ", ".join(map(outcome_text.rate, line.rates))
        shown[line.name] = "; ".join(filter(None, (f"learner {line.learner.name}", values, f"learning rates {rates}")))
    return shown


def _timings(sessions: list[Session], runs: list[FinishedRun]) -> dict[str, str]:
    shown = {"sum over all runs": f"{sum(run.seconds for run in runs):,.0f} s in {len(runs):,} runs"}
    for number, session in enumerate(sessions, start=1):
        took = "killed" if session.seconds is None else f"{session.seconds:,.0f} s for {session.cells:,} runs"
        shown[f"start {number}"] = f"{took}, {session.workers} {session.executor}, {session.started}"
    return shown
