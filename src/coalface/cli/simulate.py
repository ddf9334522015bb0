"""``coalface simulate``: one run over data in memory, or over a stream."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.learner_options import LEARNER, LearnerSettings
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import budget_in, check_drawn, check_output
from coalface.cli.screen import counted, print_table, progress_bar, spending, with_forecast
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data import CostDataset
    from coalface.evaluate import Checkpoints, Curve
    from coalface.learner import CoalClassifier, NamedLearner


_INTERRUPTED = 130
_OF_THE_DATA = ("classes", "cost_matrix")
_HEADINGS = ("costs asked", "examples asked", "of examples", "test cost")


def simulate(
    data: options.NamedData,
    *,
    test: Annotated[Path | None, typer.Option(help="Held-out data with all costs known.")] = None,
    test_fraction: Annotated[
        float, typer.Option(help="Without --test, the share of DATA to hold out; 0: no test.")
    ] = 0.2,
    settings: Annotated[LearnerSettings, LEARNER],
    budget: options.Budget = None,
    batch: options.Batch = 1,
    shuffle: Annotated[bool, typer.Option(help="Permute the training rows with --seed, or keep their order.")] = True,
    checkpoints: Annotated[
        str,
        typer.Option(help="Costs at which to measure the test cost: doubling, quarter-doubling, or 100,500,1000."),
    ] = "doubling",
    stop_saving: options.StopSaving = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read DATA block by block, in one pass: its rows keep their order, and only --test is held out. "
            "Standard input (-) is always read so.",
        ),
    ] = False,
    block: options.Block = options.BLOCK_ROWS,
    report: options.Report = None,
    save: Annotated[Path | None, typer.Option(help="Save the learner for predict, ask and tell.")] = None,
    as_json: options.Json = False,
    reading: ReaderOptions,
) -> None:
    """Simulate one run on data with known costs.

    The learner sees only the costs that it asks for, and the run counts them.
    Settings that are left out have the defaults of CoalClassifier; the report shows them.
    A budget without "over" is spent over all training examples.
    Ctrl-C ends the run early: the result so far is printed, and the exit code is 130.
    """
    check_drawn(report)
    if save is not None:
        check_output(save, "--save")
    how = _RunSettings(settings, _checkpoints(checkpoints), budget, batch, stop_saving)
    source = _SimulatedData(data, test, reading.format, reading.given())
    if stream or str(data) == "-":
        model, curve, train, n_rows = _streamed_run(how, source, block)
    else:
        fraction = 0.0 if test is not None else test_fraction
        model, curve, train, n_rows = _whole_run(how, source, fraction, shuffle=shuffle)
    _show(curve, model.learner, as_json=as_json)
    if save is not None:
        model.keep_encoder(train)
        model.save(save)
    if report is not None:
        _write_report(report, curve, train, n_rows, model.learner, batch)
    if curve.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _checkpoints(text: str) -> "Checkpoints":
    named: dict[str, Checkpoints] = {"doubling": "doubling", "quarter-doubling": "quarter-doubling"}
    if text in named:
        return named[text]
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(
            f"--checkpoints must be doubling, quarter-doubling or whole numbers such as 100,500,1000, got {text!r}. "
            "Choose one."
        ) from None


def _show(curve: "Curve", learner: "CoalClassifier", *, as_json: bool) -> None:
    asked, answered = int(curve.costs_queried[-1]), learner.totals_.answered
    if as_json:
        typer.echo(json.dumps({**curve.to_values(), "costs_answered": answered}, allow_nan=False))
        return
    title = "Stopped: more questions would save too little" if curve.stopped else "The run"
    print_table("Interrupted: the run so far" if curve.interrupted else title, _headings(curve), _rows(curve))
    if not math.isnan(curve.auc):  # there is test data
        typer.echo(f"Area under the test cost on a log2 axis (AUC, smaller is better): {curve.auc:.4f}")
    if answered < asked:
        typer.echo(f"The data has {answered:,} of the {counted(asked, 'cost')} asked for; the others are empty.")
    if (spent := spending(learner)) is not None:
        typer.echo(f"{spent}.")


def _headings(curve: "Curve") -> tuple[str, ...]:
    return _HEADINGS if curve.truths_queried is None else (*_HEADINGS, "true labels asked", "price")


def _rows(curve: "Curve") -> list[list[str]]:
    columns = (curve.costs_queried, curve.examples_queried, curve.rounds, curve.test_cost)
    rows = [
        [f"{costs:,}", f"{examples:,}", f"{rounds:,}", "-" if math.isnan(test_cost) else f"{test_cost:.4f}"]
        for costs, examples, rounds, test_cost in zip(*(column.tolist() for column in columns), strict=True)
    ]
    if curve.truths_queried is None:
        return rows
    bought = zip(curve.truths_queried.tolist(), curve.price.tolist(), strict=True)
    return [[*row, f"{truths:,}", f"{price:,.10g}"] for row, (truths, price) in zip(rows, bought, strict=True)]


def _write_report(
    path: Path, curve: "Curve", train: "CostDataset", n_rows: int, learner: "CoalClassifier", batch: int
) -> None:
    from coalface.evaluate import rules_panel
    from coalface.learner import flat, rule_of
    from coalface.report import draw_curves, page, write_page

    parameters = learner.get_params(deep=False)
    shown = {name: value for name, value in parameters.items() if name not in _OF_THE_DATA}
    settings = {name: f"{value}" for name, value in {**shown, **flat(parameters), "batch": batch}.items()}
    runs: dict[str, list[Curve]] = {rule_of(learner.rule).variant: [curve]}
    axis = "costs_queried" if curve.truths_queried is None else "price"
    panels = [rules_panel("Against costs", runs, axis), rules_panel("Against examples", runs, "examples_queried")]
    sizes = {"training example": n_rows, "label": len(train.classes), "feature": train.X.shape[1]}
    size = ", ".join(counted(n, noun) for noun, n in sizes.items())
    html = page(
        "run.html",
        f"A simulated run on {train.name or 'your data'}",
        f"{curve}. {size}.",
        curves=draw_curves(panels, "Test cost"),
        headings=_headings(curve),
        rows=_rows(curve),
        settings=settings,
        times={"the run": f"{curve.seconds:.2f} s"},
    )
    write_page(path, html)
    typer.echo(f"Report: {path.resolve()}", err=True)


@dataclass(frozen=True)
class _RunSettings:
    """How to run: the parameters of the learner, and what a simulation needs."""

    settings: LearnerSettings
    checkpoints: "Checkpoints"
    budget: str | None
    batch: int
    stop_saving: float | None

    def model(self, train: "CostDataset", options: dict[str, Any], over: int | None) -> "NamedLearner":
        """A new learner for these labels and features."""
        from coalface.learner import NamedLearner
        from coalface.models import model_of

        kept = _kept_costs(options, train.classes)
        if "price_of_truth" in self.settings.given:
            kept["cost_matrix"] = train.matrix_of_truths()
        learner = self.settings.learner(classes=train.classes, **kept)
        paced = model_of(learner.model).paces_budgets
        learner.set_params(budget=budget_in(self.budget, over=over if paced else None))
        return NamedLearner(learner, train.feature_names)


@dataclass(frozen=True)
class _SimulatedData:
    """The data of a run, its test data, and how to read them."""

    data: Path
    test: Path | None
    format: str
    options: dict[str, Any]

    def test_for(self, train: "CostDataset") -> "CostDataset | None":
        """The test data, with the features and labels of the training data."""
        from coalface.data import read_aligned

        if self.test is None:
            return None
        return read_aligned(
            self.test,
            self.format,
            self.options,
            classes=train.classes,
            feature_names=train.feature_names,
            width=train.X.shape[1],
            encoder=train.encoder,
        )


def _whole_run(
    how: _RunSettings, source: _SimulatedData, fraction: float, *, shuffle: bool
) -> "tuple[NamedLearner, Curve, CostDataset, int]":
    """A run over data that is read into memory; ``fraction`` of it is held out."""
    import numpy as np

    from coalface.data import read_dataset
    from coalface.evaluate import simulate as run
    from coalface.studies.known.catalogue import find_train_test

    seed = how.settings.given.get("random_state", 0)
    both = find_train_test(source.data, source.format, source.options)
    if both is not None and source.test is not None:
        raise InputError(
            f"{source.data} has a test part of its own, got --test {source.test} as well. Leave out --test."
        )
    train = read_dataset(source.data, source.format, **source.options) if both is None else both.train
    held_out = source.test_for(train) if both is None else both.test
    if both is None and fraction:
        train, held_out = train.split(fraction, seed)
    model = how.model(train, source.options, len(train))
    with progress_bar(train.name or "Simulating") as progress:
        curve = run(
            model.learner,
            train.X,
            train.cost,
            X_test=None if held_out is None else held_out.X,
            cost_test=None if held_out is None else held_out.cost,
            order=np.random.default_rng(seed).permutation(len(train)) if shuffle else np.arange(len(train)),
            checkpoints=how.checkpoints,
            candidates=train.candidates,
            price=train.price,
            batch=how.batch,
            stop_saving=how.stop_saving,
            progress=with_forecast(progress, model.learner, train.name or "Simulating"),
        )
    return model, curve, train, len(train)


def _streamed_run(
    how: _RunSettings, source: _SimulatedData, block: int
) -> "tuple[NamedLearner, Curve, CostDataset, int]":
    """A run over a stream, in one pass."""
    from coalface.data import read_blocks
    from coalface.evaluate import simulate_blocks

    rows = max(block - block % how.batch, how.batch)  # whole batches
    blocks = read_blocks(source.data, source.format, rows=rows, **source.options)
    first = next(blocks)
    model, latest = how.model(first, source.options, None), [first]
    with progress_bar(first.name or "Simulating") as progress:
        curve = simulate_blocks(
            model.learner,
            _noted(chain([first], blocks), latest),
            test=source.test_for(first),
            checkpoints=how.checkpoints,
            batch=how.batch,
            stop_saving=how.stop_saving,
            progress=progress,
        )
    model.feature_names = latest[0].feature_names
    return model, curve, latest[0], int(curve.rounds[-1])


def _noted(blocks: "Iterator[CostDataset]", latest: "list[CostDataset]") -> "Iterator[CostDataset]":
    """The same blocks; ``latest`` has the last one."""
    for block in blocks:
        latest[0] = block
        yield block


def _kept_costs(how: dict[str, Any], classes: Any) -> dict[str, Any]:
    """The cost matrix as a parameter, so that a saved learner keeps it."""
    from coalface.data import read_cost_matrix

    return {"cost_matrix": read_cost_matrix(how["cost_matrix"], classes)} if "cost_matrix" in how else {}
