"""``coalface train`` and ``coalface predict``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options
from coalface.cli.budgets import budget_from
from coalface.cli.reading import listed, read, read_like, reader_options
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.cli.models import Model


def train(
    model: Annotated[Path, typer.Option(help="Where the model is saved.")],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="Examples with costs; without it, the model starts empty.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The labels, such as refund,billing: needed without DATA.")
    ] = None,
    go_on: Annotated[bool, typer.Option("--continue", help="Go on from an existing model, with its settings.")] = False,
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
    budget: options.Budget = None,
    seed: options.SeedIfGiven = None,
    format: options.Format = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """Learn all costs that DATA gives and save the model; without DATA, make an empty model for ask.

    Settings that are left out are those of CoalClassifier.
    An existing model is never overwritten; --continue learns more with it.
    A budget is for what ask wants from then on, also with --continue; DATA does not count against it.
    """
    from coalface.cli.files import check_folder_of
    from coalface.cli.models import Model
    from coalface.data.labels import label_from_text
    from coalface.files.locks import exclusive
    from coalface.learner.coal import CoalClassifier

    check_folder_of(model, "--model")
    if data is None and classes is None:
        raise InputError("train needs DATA, or --classes for an empty model, got neither. Pass one of them.")
    settings = options.given(
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
    )
    if go_on:
        options.check_nothing_given({**settings, **options.given(classes=classes)})
    paced = budget_from(budget)
    with exclusive(model):
        if model.exists() and not go_on:
            raise InputError(f"{model} exists already. Pass --continue to learn more with it, or another --model.")
        current = Model.load(model) if go_on else Model(CoalClassifier(**settings))
        _learn(current, data, classes, format, reader_options(label, cost_matrix, reader))
        if paced is not None:
            current.learner.start_budget(paced)
        current.save(model)
    learner = current.learner
    typer.echo(f"{model}: {learner.round_ - 1:,} examples, {len(learner.classes_)} labels, {current.width:,} features")


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model made by train or simulate --save.")],
    data: options.Data,
    costs: Annotated[bool, typer.Option("--costs", help="Add the predicted cost of every label.")] = False,
    format: options.Format = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """The label with the least predicted cost for each example, or that of abstaining, as JSON lines."""
    from coalface.cli.models import Model
    from coalface.data.labels import label_texts

    current = Model.load(model)
    dataset = read_like(current, data, format, reader_options(label, cost_matrix, reader))
    labels = current.learner.predict(dataset.X, candidates=dataset.candidates).tolist()
    predicted = current.learner.predict_cost(dataset.X).tolist() if costs else None
    names = label_texts(current.learner.classes_)
    for row, best in enumerate(labels):
        line = {"row": row, "label": best}
        if predicted is not None:
            line["costs"] = dict(zip(names, (round(cost, 6) for cost in predicted[row]), strict=True))
        typer.echo(json.dumps(line))


def _learn(current: "Model", data: Path | None, classes: str | None, format: str, reading: dict[str, object]) -> None:
    """Begin with the labels if the model is new, then learn the data if there is any."""
    from coalface.data.labels import labels_from_text

    learner, new = current.learner, not hasattr(current.learner, "classes_")
    if classes is not None and new:
        learner.classes = labels_from_text(listed("--classes", classes))
    if data is None:
        learner.begin()
        return
    if new and learner.classes is None:
        dataset = read(data, format, reading)
        learner.classes = dataset.classes
    else:
        learner.begin()
        dataset = read_like(current, data, format, reading)
    learner.partial_fit(dataset.X, cost=dataset.cost, candidates=dataset.candidates)
    current.feature_names = dataset.feature_names or current.feature_names
