"""``coalface train``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_groups import LearnerOptions, ReaderOptions
from coalface.cli.option_values import budget_in, check_nothing_given, check_output, names_in
from coalface.cli.screen import counted
from coalface.errors import InputError


def train(
    *,
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
    settings: LearnerOptions,
    budget: options.Budget = None,
    seed: options.SeedIfGiven = None,
    format: options.Format = "auto",
    reading: ReaderOptions,
) -> None:
    """Learn all costs in a dataset and save the model.

    Without DATA, the model is empty and ready for ask.
    Settings that are left out have the defaults of CoalClassifier.
    An existing model is never overwritten; --continue learns more with it.
    A budget counts what ask wants from then on, also with --continue; the costs in DATA are free.
    """
    from coalface.data.labels import labels_from_text
    from coalface.files.atomic import exclusive
    from coalface.learner.classifiers import CoalClassifier
    from coalface.learner.named_learner import NamedLearner
    from coalface.models.choice import MODELS

    check_output(model, "--model")
    if str(model) in MODELS:
        raise InputError(
            f"--model is the file to write, got {model}. For the kind of model, pass --cost-model {model}."
        )
    if data is None and classes is None:
        raise InputError("train needs DATA, or --classes for an empty model, got neither. Pass one of them.")
    labels = None if classes is None else labels_from_text(names_in("--classes", classes))
    parameters = settings.given(classes=labels, random_state=seed)
    if resume:
        check_nothing_given(parameters)
    wanted_budget = budget_in(budget)
    with exclusive(model):
        if model.exists() and not resume:
            raise InputError(f"{model} exists already. Pass --continue to learn more with it, or another --model.")
        current = NamedLearner.load(model) if resume else NamedLearner(CoalClassifier(**parameters))
        if data is not None:
            current.learn(data, format, reading.given())
        if wanted_budget is not None:
            current.learner.start_budget(wanted_budget)
        current.save(model)
    learner = current.learner
    typer.echo(
        f"{model}: {counted(learner.round_ - 1, 'example')}, {counted(len(learner.classes_), 'label')}, "
        f"{counted(current.width, 'feature')}"
    )
