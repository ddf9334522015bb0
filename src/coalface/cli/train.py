"""``coalface train``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_values import (
    budget_in,
    check_nothing_given,
    check_output,
    given,
    model_in,
    names_in,
    reader_options,
)
from coalface.cli.screen import counted
from coalface.errors import InputError


def train(
    model: Annotated[Path, typer.Option(help="The file to save the model in.")],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="Examples with costs; without it, the model starts empty.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The labels, such as refund,billing; needed without DATA.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--continue", help="Learn more with an existing model, with its settings.")
    ] = False,
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
    seed: options.SeedIfGiven = None,
    format: options.Format = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """Learn all costs in a dataset and save the model.

    Without DATA, the model is empty and ready for ask.
    Settings that are left out have the defaults of CoalClassifier.
    An existing model is never overwritten; --continue learns more with it.
    A budget counts what ask wants from then on, also with --continue; the costs in DATA are free.
    """
    from coalface.data.labels import label_from_text, labels_from_text
    from coalface.files.atomic import exclusive
    from coalface.learner.classifiers import CoalClassifier
    from coalface.learner.named_learner import NamedLearner

    check_output(model, "--model")
    if data is None and classes is None:
        raise InputError("train needs DATA, or --classes for an empty model, got neither. Pass one of them.")
    settings = given(
        classes=None if classes is None else labels_from_text(names_in("--classes", classes)),
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
    )
    if resume:
        check_nothing_given(settings)
    wanted_budget = budget_in(budget)
    with exclusive(model):
        if model.exists() and not resume:
            raise InputError(f"{model} exists already. Pass --continue to learn more with it, or another --model.")
        current = NamedLearner.load(model) if resume else NamedLearner(CoalClassifier(**settings))
        if data is not None:
            current.learn(data, format, reader_options(label, cost_matrix, reader))
        if wanted_budget is not None:
            current.learner.start_budget(wanted_budget)
        current.save(model)
    learner = current.learner
    typer.echo(
        f"{model}: {counted(learner.round_ - 1, 'example')}, {counted(len(learner.classes_), 'label')}, "
        f"{counted(current.width, 'feature')}"
    )
