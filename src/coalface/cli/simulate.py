"""``coalface simulate``."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_groups import LearnerOptions, ReaderOptions
from coalface.cli.option_values import check_output
from coalface.cli.screen import counted, print_table, spending
from coalface.cli.simulated_runs import RunSettings, streamed_run, whole_run
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset
    from coalface.evaluate.curve import Curve
    from coalface.learner.classifiers import CoalClassifier

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
    settings: LearnerOptions,
    budget: options.Budget = None,
    batch: options.Batch = 1,
    alike: options.Alike = None,
    seed: options.Seed = 0,
    shuffle: Annotated[bool, typer.Option(help="Permute the training rows with --seed, or keep their order.")] = True,
    checkpoints: Annotated[
        str,
        typer.Option(help="Costs at which to measure the test cost: doubling, quarter-doubling, or 100,500,1000."),
    ] = "doubling",
    budgets: Annotated[str | None, typer.Option(hidden=True)] = None,
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
    report: Annotated[Path | None, typer.Option(help="Write an HTML page with the curve.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the learner for predict, ask and tell.")] = None,
    as_json: options.Json = False,
    format: options.Format = "auto",
    reading: ReaderOptions,
) -> None:
    """Simulate one run on data with known costs.

    The learner sees only the costs that it asks for, and the run counts them.
    Settings that are left out have the defaults of CoalClassifier; the report shows them.
    A budget without "over" is spent over all training examples.
    Ctrl-C ends the run early: the result so far is printed, and the exit code is 130.
    """
    parameters = settings.given(random_state=seed, alike=alike)
    for path, option in ((report, "--report"), (save, "--save")):
        if path is not None:
            check_output(path, option)
    if budgets is not None:
        raise InputError("--budgets is now called --checkpoints. (--budget limits what may be spent.)")
    how = RunSettings(parameters, _checkpoints(checkpoints), budget, batch, stop_saving)
    if stream or str(data) == "-":
        model, curve, train, n_rows = streamed_run(how, data, test, format, reading.given(), block)
    else:
        fraction = 0.0 if test is not None else test_fraction
        model, curve, train, n_rows = whole_run(
            how, data, test, format, reading.given(), fraction, seed, shuffle=shuffle
        )
    _show(curve, model.learner, as_json=as_json)
    if save is not None:
        model.keep_encoder(train)
        model.save(save)
    if report is not None:
        _write_report(report, curve, train, n_rows, model.learner, batch)
    if curve.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _checkpoints(text: str) -> Any:
    if text in ("doubling", "quarter-doubling"):
        return text
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(
            f"--checkpoints must be doubling, quarter-doubling or whole numbers such as 100,500,1000, got {text!r}."
        ) from None


def _show(curve: "Curve", learner: "CoalClassifier", *, as_json: bool) -> None:
    asked, answered = int(curve.costs_queried[-1]), learner.costs_answered_
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
    from coalface.evaluate.panels import draw_curves, rules_panel
    from coalface.report.html_page import page, write_page

    settings = {name: f"{value}" for name, value in learner.get_params().items() if name not in _OF_THE_DATA}
    settings["batch"] = f"{batch}"
    runs = {learner.rule: [curve]}
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
