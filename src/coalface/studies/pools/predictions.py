"""Predictions for a pool: a Parquet file beside every file, with the label and perhaps the costs of each example."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import COST_PREFIX, label_texts
from coalface.errors import InputError
from coalface.evaluate import Progress
from coalface.learner import best_labels, scale_of
from coalface.studies.pools.intake import Batch, Intake, PoolColumns
from coalface.studies.pools.pool_files import PREDICTIONS, Partition, find_partitions
from coalface.studies.pools.tasks import ModelFile, PartitionTask, PoolOutcome, run_pool


@dataclass(frozen=True)
class _Predicting:
    """The row number, the id if there is one, the label and, with ``costs``, the predicted costs of every example."""

    costs: bool = False

    @property
    def keeps_raw(self) -> bool:
        """No: only the columns of the model are read."""
        return False

    def tables(self, partition: Partition, intake: Intake, batches: Iterator[Batch]) -> Iterator[Any]:  # noqa: ARG002
        """One table per batch."""
        import pyarrow as pa

        for batch in batches:
            n_rows = batch.table.n_rows
            columns: dict[str, Any] = {"row": np.arange(batch.start, batch.start + n_rows)}
            ids = intake.ids(batch.table)
            if ids is not None:
                columns["id"] = pa.array(ids, pa.string())
            X = intake.examples(batch.table)
            columns["label"] = labels_as_arrow(best_labels(intake.learner, X))
            if self.costs:
                predicted = scale_of(intake.learner).within(intake.learner.predict_cost(X))
                names = label_texts(intake.learner.classes_)
                columns |= {f"{COST_PREFIX}{name}": predicted[:, place] for place, name in enumerate(names)}
            yield pa.table(columns)


def labels_as_arrow(labels: NDArray[Any]) -> Any:
    """Labels as an array of Arrow; texts are texts also if there are none."""
    import pyarrow as pa

    return pa.array(labels.tolist(), pa.string()) if labels.dtype.kind in "UO" else pa.array(labels)


def predict_pool(
    model: str | os.PathLike[str],
    pool: Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str] | None = None,
    costs: bool = False,
    id: str | None = None,
    ignore: Iterable[str] = (),
    executor: str | Executor = "threads",
    workers: int | None = None,
    progress: Progress | None = None,
) -> PoolOutcome:
    """Write the predictions of every file of a pool, ``part-0.csv`` to ``part-0.predictions.parquet``.

    ``pool`` has files or patterns such as ``pool/*.parquet``. The results lie beside the files, or in the folder
    ``out``. Results that are there already, of the same model and file, are kept. Calls ``progress(done, total)``.

    >>> from tempfile import TemporaryDirectory
    >>> from coalface import CoalClassifier
    >>> from coalface.learner.named_learner import NamedLearner
    >>> learner = CoalClassifier().fit([[1.0], [5.0]] * 20, ["cat", "dog"] * 20)
    >>> with TemporaryDirectory() as folder:
    ...     NamedLearner(learner, ("weight",)).save(Path(folder, "pets.coal"))
    ...     _ = Path(folder, "pool-1.csv").write_text("weight,id" + chr(10) + "5,rex" + chr(10))
    ...     outcome = predict_pool(Path(folder, "pets.coal"), [f"{folder}/pool-*.csv"])
    ...     outcome.files, outcome.rows, Path(folder, "pool-1.predictions.parquet").is_file()
    (1, 1, True)
    """
    partitions = find_partitions(pool)
    folder = None if out is None else made_folder(Path(out))
    targets, columns = _targets_of(partitions, PREDICTIONS, folder), PoolColumns(id, tuple(ignore))
    found = ModelFile.of(Path(model))
    work = _Predicting(costs)
    tasks = [
        PartitionTask(partition, target, work, columns, found)
        for partition, target in zip(partitions, targets, strict=True)
    ]
    return run_pool(tasks, executor, workers, progress)


def made_folder(folder: Path) -> Path:
    """The folder, made if it does not exist."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out must be a folder, {folder} is a file. Choose another name.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def _targets_of(partitions: Sequence[Partition], suffix: str, folder: Path | None) -> list[Path]:
    """The file for the result of each partition, beside it or in ``folder``; an InputError if two are the same.

    >>> part = Partition(Path("pool/part-0.csv"), "part-0.csv", "")
    >>> _targets_of([part], ".predictions.parquet", Path("out"))[0].as_posix()
    'out/part-0.predictions.parquet'
    """
    targets = [
        (partition.path.parent if folder is None else folder) / (partition.stem + suffix) for partition in partitions
    ]
    first: dict[Path, Partition] = {}
    for partition, target in zip(partitions, targets, strict=True):
        other = first.setdefault(target, partition)
        if other is not partition:
            raise InputError(
                f"{other.path} and {partition.path} would both be written to {target}. Rename one of them."
            )
    return targets
