"""``coalface simulate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_values import budget_in, check_output, given, model_in, reader_options
from coalface.cli.screen import print_table, progress_bar, spending
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset
    from coalface.learner.classifiers import CoalClassifier
    from coalface.studies.curve import Curve

_INTERRUPTED = 130
_OF_THE_DATA = ("classes", "cost_matrix")
_HEADINGS = ("costs asked", "examples asked", "of examples", "test cost")


def simulate(
    data: options.NamedData,
    test: Annotated[Path | None, typer.Option(help="Held-out data with all costs known.")] = None,
    test_fraction: Annotated[float, typer.Option(help="Without --test, the share of DATA to hold out.")] = 0.2,
    rule: options.Rule = None,
    mellowness: options.Mellowness = None,
    learning_rate: options.LearningRate = None,
    warm_up: options.WarmUp = None,
    width_scale: options.WidthScale = None,
    slack: options.Slack = None,
    audit_rate: options.AuditRate = None,
    accumulator: options.Accumulator = None,
    sensitivity: options.Sensitivity = None,
    cost_bounds: options.CostBounds = None,
    abstain_cost: options.AbstainCost = None,
    abstain_label: options.AbstainLabel = None,
    interactions: options.Interactions = None,
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
    report: Annotated[Path | None, typer.Option(help="Write an HTML page with the curve.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the learner for predict, ask and tell.")] = None,
    as_json: options.Json = False,
    format: options.Format = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """Simulate one run on data with known costs.

    The learner sees only the costs that it asks for, and the run counts them.
    Settings that are left out have the defaults of CoalClassifier; the report shows them.
    A budget without "over" is spent over all training examples.
    Ctrl-C ends the run early: the result so far is printed, and the exit code is 130.
    """
    from coalface.data.alignment import read_aligned
    from coalface.data.formats.readers import read_dataset
    from coalface.data.known.catalogue import find_train_test
    from coalface.data.labels import label_from_text
    from coalface.learner.classifiers import CoalClassifier
    from coalface.learner.named_learner import NamedLearner

    settings = given(
        rule=rule,
        mellowness=mellowness,
        learning_rate=learning_rate,
        warm_up=warm_up,
        width_scale=width_scale,
        slack=slack,
        audit_rate=audit_rate,
        accumulator=accumulator,
        sensitivity=sensitivity,
        cost_bounds=cost_bounds,
        random_state=seed,
        abstain_cost=abstain_cost,
        abstain_label=label_from_text(abstain_label),
        model=model_in(interactions),
        alike=alike,
    )
    for path, option in ((report, "--report"), (save, "--save")):
        if path is not None:
            check_output(path, option)
    if budgets is not None:
        raise InputError("--budgets is now called --checkpoints. (--budget limits what may be spent.)")
    wanted = _checkpoints(checkpoints)
    reading = reader_options(label, cost_matrix, reader)
    both = find_train_test(data, format, reading)
    if both is not None and test is not None:
        raise InputError(f"{data} has a test part of its own, got --test {test} as well. Leave out --test.")
    train = read_dataset(data, format, **reading) if both is None else both.train
    model = NamedLearner(CoalClassifier(classes=train.classes, **settings), train.feature_names)
    if both is not None:
        held_out = both.test
    elif test is None:
        train, held_out = train.split(test_fraction, seed)
    else:
        held_out = read_aligned(
            test,
            format,
            reading,
            classes=train.classes,
            feature_names=train.feature_names,
            width=train.X.shape[1],
        )
    model.learner.set_params(budget=budget_in(budget, over=len(train)))
    curve = _run(model, train, held_out, wanted, seed if shuffle else None, batch, stop_saving)
    _show(curve, spending(model.learner), as_json=as_json)
    if save is not None:
        model.save(save)
    if report is not None:
        _write_report(report, curve, train, model.learner, batch)
    if curve.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _run(
    model: Any,
    train: "CostDataset",
    held_out: "CostDataset",
    checkpoints: Any,
    seed: int | None,
    batch: int,
    stop_saving: float | None,
) -> "Curve":
    import numpy as np

    from coalface.studies.simulation import simulate as run

    with progress_bar(train.name or "Simulating") as progress:
        return run(
            model.learner,
            train.X,
            train.cost,
            X_test=held_out.X,
            cost_test=held_out.cost,
            order=None if seed is None else np.random.default_rng(seed).permutation(len(train)),
            checkpoints=checkpoints,
            candidates=train.candidates,
            price=train.price,
            batch=batch,
            stop_saving=stop_saving,
            progress=progress,
        )


def _checkpoints(text: str) -> Any:
    if text[:1].isalpha():
        return text
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(
            f"--checkpoints must be doubling, quarter-doubling or whole numbers such as 100,500,1000, got {text!r}."
        ) from None


def _show(curve: "Curve", spent: str | None, *, as_json: bool) -> None:
    if as_json:
        typer.echo(curve.to_json())
        return
    title = "Stopped: more questions would save too little" if curve.stopped else "The run"
    print_table("Interrupted: the run so far" if curve.interrupted else title, _HEADINGS, _rows(curve))
    typer.echo(f"Area under the test cost on a log2 axis (AUC, smaller is better): {curve.auc:.4f}")
    if spent is not None:
        typer.echo(f"{spent}.")


def _rows(curve: "Curve") -> list[list[str]]:
    columns = (curve.costs_queried, curve.examples_queried, curve.rounds, curve.test_cost)
    return [
        [f"{costs:,}", f"{examples:,}", f"{rounds:,}", f"{test_cost:.4f}"]
        for costs, examples, rounds, test_cost in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _write_report(path: Path, curve: "Curve", train: "CostDataset", learner: "CoalClassifier", batch: int) -> None:
    from coalface.studies.report.html_page import page, write_page
    from coalface.studies.report.panels import draw_curves, rules_panel

    settings = {name: f"{value}" for name, value in learner.get_params().items() if name not in _OF_THE_DATA}
    settings["batch"] = f"{batch}"
    runs = {learner.rule: [curve]}
    panels = [rules_panel("Against costs", runs), rules_panel("Against examples", runs, "examples_queried")]
    size = f"{len(train):,} training examples, {len(train.classes)} labels, {train.X.shape[1]:,} features"
    html = page(
        "run.html",
        f"A simulated run on {train.name or 'your data'}",
        f"{curve}. {size}.",
        curves=draw_curves(panels, "Test cost"),
        headings=_HEADINGS,
        rows=_rows(curve),
        settings=settings,
        times={"the run": f"{curve.seconds:.2f} s"},
    )
    write_page(path, html)
    typer.echo(f"Report: {path.resolve()}", err=True)
