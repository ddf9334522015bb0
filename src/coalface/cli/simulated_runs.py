"""Simulated runs of ``coalface simulate``: over data in memory, or over a stream."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coalface.cli.option_values import budget_in
from coalface.cli.screen import progress_bar, with_forecast
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset
    from coalface.evaluate.curve import Curve
    from coalface.learner.named_learner import NamedLearner


@dataclass(frozen=True)
class RunSettings:
    """How to run: the parameters of the learner, and what a simulation needs."""

    parameters: dict[str, Any]
    checkpoints: Any
    budget: str | None
    batch: int
    stop_saving: float | None

    def model(self, train: "CostDataset", options: dict[str, Any], over: int | None) -> "NamedLearner":
        """A new learner for these labels and features."""
        from coalface.learner.classifiers import CoalClassifier
        from coalface.learner.named_learner import NamedLearner
        from coalface.models.choice import model_of

        parameters = self.parameters | _kept_costs(options, train.classes)
        if parameters.get("price_of_truth") is not None:
            parameters["cost_matrix"] = train.matrix_of_truths()
        learner = CoalClassifier(classes=train.classes, **parameters)
        paced = model_of(learner.model).paces_budgets
        learner.set_params(budget=budget_in(self.budget, over=over if paced else None))
        return NamedLearner(learner, train.feature_names)


def whole_run(
    how: RunSettings,
    data: Path,
    test: Path | None,
    format: str,
    options: dict[str, Any],
    fraction: float,
    seed: int,
    *,
    shuffle: bool,
) -> "tuple[NamedLearner, Curve, CostDataset, int]":
    """A run over data that is read into memory; ``fraction`` of it is held out."""
    import numpy as np

    from coalface.data.formats.readers import read_dataset
    from coalface.evaluate.simulation import simulate as run
    from coalface.studies.known.catalogue import find_train_test

    both = find_train_test(data, format, options)
    if both is not None and test is not None:
        raise InputError(f"{data} has a test part of its own, got --test {test} as well. Leave out --test.")
    train = read_dataset(data, format, **options) if both is None else both.train
    held_out: CostDataset | None
    if both is not None:
        held_out = both.test
    elif test is not None:
        held_out = _test_for(train, test, format, options)
    else:
        train, held_out = train.split(fraction, seed) if fraction else (train, None)
    model = how.model(train, options, len(train))
    with progress_bar(train.name or "Simulating") as progress:
        curve = run(
            model.learner,
            train.X,
            train.cost,
            X_test=None if held_out is None else held_out.X,
            cost_test=None if held_out is None else held_out.cost,
            order=np.random.default_rng(seed).permutation(len(train)) if shuffle else None,
            checkpoints=how.checkpoints,
            candidates=train.candidates,
            price=train.price,
            batch=how.batch,
            stop_saving=how.stop_saving,
            progress=with_forecast(progress, model.learner, train.name or "Simulating"),
        )
    return model, curve, train, len(train)


def streamed_run(
    how: RunSettings, data: Path, test: Path | None, format: str, options: dict[str, Any], block: int
) -> "tuple[NamedLearner, Curve, CostDataset, int]":
    """A run over a stream, in one pass."""
    from coalface.data.streams.blocks import read_blocks
    from coalface.evaluate.simulation import simulate_blocks

    rows = max(block - block % how.batch, how.batch)  # whole batches
    blocks = read_blocks(data, format, rows=rows, **options)
    first = next(blocks)
    model, latest = how.model(first, options, None), [first]
    with progress_bar(first.name or "Simulating") as progress:
        curve = simulate_blocks(
            model.learner,
            _noted(chain([first], blocks), latest),
            test=None if test is None else _test_for(first, test, format, options),
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


def _test_for(train: "CostDataset", test: Path, format: str, options: dict[str, Any]) -> "CostDataset":
    """The test data of a file, with the features and labels of the training data."""
    from coalface.data.alignment import read_aligned

    return read_aligned(
        test,
        format,
        options,
        classes=train.classes,
        feature_names=train.feature_names,
        width=train.X.shape[1],
        encoder=train.encoder,
    )


def _kept_costs(how: dict[str, Any], classes: Any) -> dict[str, Any]:
    """The cost matrix as a parameter, so that a saved learner keeps it."""
    from coalface.data.formats.cost_matrix import read_cost_matrix

    return {"cost_matrix": read_cost_matrix(how["cost_matrix"], classes)} if "cost_matrix" in how else {}
