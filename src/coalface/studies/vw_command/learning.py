"""Runs a command of VW: reads, learns and predicts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset
from coalface.errors import InputError
from coalface.learner.classifiers import CoalClassifier
from coalface.learner.named_learner import NamedLearner
from coalface.models.online import OnlineModel
from coalface.studies.vw_command.checks import CS_ACTIVE
from coalface.studies.vw_command.examples import read_training, targets_of
from coalface.studies.vw_command.products import products
from coalface.studies.vw_command.progress import Progress
from coalface.studies.vw_command.progressive import Predictions, average, predict_then_learn
from coalface.studies.vw_command.translation import VwCommand

Show = Callable[[str], None]
_Beginning = tuple[NamedLearner, CostDataset, dict[str, Any], dict[str, Any]]  # settings and options of the reader


@dataclass(frozen=True, eq=False)
class VwRun:
    """A finished run of a command.

    ``settings`` are those for ``CoalClassifier.as_published``, empty for a saved model. ``loss`` and ``chosen`` are of
    all passes; ``loss`` is NaN where it is unknown.
    """

    command: VwCommand
    named: NamedLearner
    dataset: CostDataset
    settings: dict[str, Any]
    reading: dict[str, Any]  # options of the reader
    raw: NDArray[np.float64]  # (examples of all passes, K) predicted costs
    chosen: NDArray[np.int64]  # columns of the predicted labels
    loss: NDArray[np.float64]
    queries: int

    @property
    def asks(self) -> bool:
        """Whether the learner asks for costs, instead of learning all of them."""
        return bool(self.named.learner.rule != "passive")

    def summary(self) -> str:
        """The end of VW's output."""
        lines = [f"number of examples = {len(self.loss)}", f"average loss = {average(self.loss):.6f}"]
        if self.asks and not self.command.test_only:
            lines.append(f"total queries = {self.queries}")
        return "\n".join(lines)


def learn(command: VwCommand, show: Show) -> VwRun:
    """Run a command, but write no files; ``show`` gets the lines of progress."""
    begin = _begun if command.model_in is None else _continued
    named, dataset, settings, reading = begin(command)
    learner = named.learner
    before = 0 if command.model_in is None else learner.costs_queried_
    passes: list[Predictions] = []
    if command.test_only:
        passes.append(Predictions(learner.predict_cost(dataset.X), dataset))
    else:
        watch = _Watch(command, dataset, lambda: learner.costs_queried_ - before, show)
        while len(passes) < command.passes:
            passes.append(predict_then_learn(learner, dataset, watch))
    return VwRun(
        command=command,
        named=named,
        dataset=dataset,
        settings=settings,
        reading=reading,
        raw=np.concatenate([one.raw for one in passes]),
        chosen=np.concatenate([one.chosen for one in passes]),
        loss=np.concatenate([one.loss for one in passes]),
        queries=learner.costs_queried_ - before,
    )


def _begun(command: VwCommand) -> _Beginning:
    """A new learner and its data."""
    dataset, reading = read_training(command)
    settings = command.settings(float(np.nanmax(dataset.cost)))
    interactions = products(command.pairs, dataset.feature_names)
    if interactions is not None:
        settings["model"] = OnlineModel(interactions)
    learner = CoalClassifier.as_published(classes=dataset.classes, **settings)
    return NamedLearner(learner, dataset.feature_names), dataset, settings, reading


def _continued(command: VwCommand) -> _Beginning:
    """A saved learner, and the data with its labels and features."""
    assert command.model_in is not None
    named = NamedLearner.load(command.model_in)
    _check_same(command, named)
    names = named.feature_names or ()
    if any(" " in name for name in names) and "ngrams" not in command.reading:
        raise InputError(f"{command.model_in} has learned n-grams. Repeat its --ngram and --skips.")
    reading = {**targets_of(command), **command.reading}
    dataset = named.read(command.data, "vw", reading)
    interacts = getattr(named.learner.model, "interactions", None) is not None
    if interacts and not command.test_only and len(dataset.feature_names or ()) > len(names):
        raise InputError(
            f"{command.data} has features that {command.model_in} does not multiply: they are new. Train on "
            "all data at once."
        )
    named.feature_names = dataset.feature_names or named.feature_names
    return named, dataset, {}, reading


def _check_same(command: VwCommand, named: NamedLearner) -> None:
    """Refuse a model that was trained with another reduction, or for another number of labels."""
    asks, n_labels = named.learner.rule != "passive", len(named.classes)
    if command.reduction is None:
        return
    if (command.reduction == CS_ACTIVE) != asks or command.n_labels != n_labels:
        learned = "--cs_active" if asks else "--csoaa or --oaa"
        raise InputError(
            f"{command.model_in} was trained with {learned} {n_labels}, got --{command.reduction} {command.n_labels}. "
            "Leave that out."
        )


class _Watch:
    """Passes the losses of the examples on to the progress, and shows it when it is due."""

    def __init__(self, command: VwCommand, dataset: CostDataset, queries: Callable[[], int], show: Show) -> None:
        self._progress = Progress(command.progress, is_factor=command.progress_is_factor, show=show)
        self._n_rows, self._queries = len(dataset), queries
        self._before, self._counted = 0, 0  # examples of earlier passes; those of this pass that are counted

    def __call__(self, predictions: Predictions, n_rows: int) -> None:
        is_due, is_last = self._progress.is_due(self._before + n_rows), n_rows == self._n_rows
        if is_due or is_last:
            self._progress.add(predictions.part(slice(self._counted, n_rows)).loss)
            self._counted = n_rows
        if is_due:
            self._progress.report(self._queries())
        if is_last:
            self._before, self._counted = self._before + n_rows, 0
