"""``coalface train``."""

import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.learner_options import LEARNER, LearnerSettings
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import (
    MODEL_EXISTS,
    budget_in,
    check_new,
    check_nothing_given,
    check_output,
    embedder_in,
    given,
    names_in,
)
from coalface.cli.screen import counted, described_columns, rarely_best, reading_bar
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data import Position
    from coalface.learner import NamedLearner


def train(
    *,
    model: options.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]", help="Examples with costs, - for standard input; without it, the model starts empty."
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="The labels, such as refund,billing; needed without DATA, and if the first rows of DATA lack some."
        ),
    ] = None,
    more: options.Continue = False,
    checkpoint_every: Annotated[
        int | None, typer.Option(min=1, help="Save the model after every so many rows, together with the position.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue after the last checkpoint of the same DATA, if there is one."),
    ] = False,
    block: options.Block = options.BLOCK_ROWS,
    shuffle: Annotated[
        bool, typer.Option(help="Learn the rows of a block in random order, drawn with --seed, or keep their order.")
    ] = True,
    settings: Annotated[LearnerSettings, LEARNER],
    budget: options.Budget = None,
    reading: ReaderOptions,
) -> None:
    """Learn all costs in a dataset and save the model.

    Without DATA, the model is empty and ready for ask.
    Settings that are left out have the defaults of CoalClassifier.
    An existing model is never overwritten; --continue learns more with it.
    DATA is read block by block, in one pass; the rows of a block are shuffled.
    A budget counts what ask wants from then on, also with --continue; the costs in DATA are free.
    """
    from coalface.data import labels_from_text, read_cost_matrix
    from coalface.files import exclusive
    from coalface.learner import Stream, Training
    from coalface.models import MODELS

    check_output(model, "--model")
    if str(model) in MODELS:
        raise InputError(
            f"--model is the file to write, got {model}. For the kind of model, pass --cost-model {model}."
        )
    if data is None and classes is None:
        raise InputError("train needs DATA, or --classes for an empty model, got neither. Pass one of them.")
    labels = None if classes is None else labels_from_text(names_in("--classes", classes))
    later = None if data is not None else embedder_in(reading.features)  # of the first examples that ask reads
    others = given(classes=labels, features=later)
    early = data is None or "price_of_truth" in settings.given  # the learner keeps it, also before its first row
    if early and labels is not None and reading.cost_matrix is not None:
        others["cost_matrix"] = read_cost_matrix(reading.cost_matrix, labels)
    if more:
        check_nothing_given([*others, *settings.names])
    if data is None and (resume or checkpoint_every is not None):
        raise InputError("--resume and --checkpoint-every need DATA, got none. Pass it, or leave them out.")
    wanted_budget = budget_in(budget)
    with exclusive(model):
        current, after = _begun(model, settings, others, more=more, resume=resume)
        if data is not None:
            stream = Stream(data, reading.format, reading.given(), rows=block)
            with reading_bar(data.name) as progress:
                save = partial(_save, current, model)
                Training(current, stream, checkpoint_every, save, progress, shuffle).run(after)
        if wanted_budget is not None:
            current.learner.start_budget(wanted_budget)
        _save(current, model, None)
    learner = current.learner
    typer.echo(
        f"{model}: {counted(learner.round_ - 1, 'example')}, {counted(len(learner.classes_), 'label')}, "
        f"{counted(current.width, 'feature')}"
    )
    if (rare := rarely_best(learner)) is not None:
        typer.echo(rare, err=True)
    if current.encoder is not None and not more:
        typer.echo(described_columns(current.encoder), err=True)


def _begun(
    model: Path, settings: LearnerSettings, others: dict[str, Any], *, more: bool, resume: bool
) -> "tuple[NamedLearner, Position | None]":
    """The learner that is trained, and where in the data it continues."""
    from coalface.learner import NamedLearner

    if not model.exists() and not more:
        return NamedLearner(settings.learner(**others)), None
    if not (more or resume):
        check_new(model, MODEL_EXISTS)
    current = NamedLearner.load(model)
    if resume and current.position is not None:
        settings.check_same(current.learner, **others)
        return current, current.position
    if not more:
        raise InputError(
            f"{model} has no checkpoint: it is finished. Pass --continue to learn more, or another --model."
        )
    if current.position is not None:
        warnings.warn(
            f"{model} has learned only {counted(current.position.rows, 'row')} of its data so far. Pass --resume with "
            "the same data to learn the rest.",
            stacklevel=2,
        )
    return current, None


def _save(current: "NamedLearner", model: Path, position: "Position | None") -> None:
    current.position = position
    current.save(model)
