"""Learning from streams, block by block, with checkpoints, and reading streams of examples to predict or ask about."""

import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.alignment import Aligner, reader_options
from coalface.data.dataset import CostDataset
from coalface.data.formats.cost_matrix import read_cost_matrix
from coalface.data.label_runs import LabelRuns, cheapest_labels
from coalface.data.numbers import whole_number
from coalface.data.streams.blocks import open_blocks, stream_format
from coalface.data.streams.contract import BLOCK_ROWS, Blocks
from coalface.data.streams.line_source import Position
from coalface.errors import DoubtfulDataWarning, FileFormatError, InputError
from coalface.learner.monitor import first_time
from coalface.learner.named_learner import NamedLearner
from coalface.learner.state import own_seed
from coalface.long_work import LongWork

Progress = Callable[[int, int | None, int], None]  # bytes read, size of the file, examples learned


@dataclass(frozen=True)
class Stream:
    """Where examples come from: a file, a folder or standard input, and how to read it.

    ``rows`` are read at a time; the first of them decide the labels and how columns become features.
    """

    path: Path
    format: str
    options: dict[str, Any]
    rows: int = BLOCK_ROWS


@dataclass
class Training:
    r"""Learns all costs of a stream; a learner without labels uses those of the first block.

    The rows of a block are learned in random order, drawn with the learner's seed, unless ``shuffle`` is False. Every
    ``every`` rows, it calls ``checkpoint`` with the position up to which it has learned. The learner keeps the option
    ``cost_matrix``: true labels that it learns later have the same costs.

    >>> from tempfile import TemporaryDirectory
    >>> from coalface import CoalClassifier
    >>> named = NamedLearner(CoalClassifier())
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.vw")
    ...     _ = path.write_text("cat:0 dog:1 | purrs\ncat:1 dog:0 | barks\n" * 10)
    ...     Training(named, Stream(path, "auto", {}, rows=8)).run()
    >>> named.learner.round_, named.feature_names
    (21, ('purrs', 'barks'))
    """

    named: NamedLearner
    stream: Stream
    every: int | None = None
    checkpoint: Callable[[Position], None] = lambda _: None
    progress: Progress = lambda *_: None
    shuffle: bool = True

    def run(self, after: Position | None = None) -> None:
        """Learn the stream, from its start or ``after`` a position."""
        with LongWork(f"reading and learning {self.stream.path}", after=3.0):
            self._run(after)

    def _run(self, after: Position | None) -> None:
        log, path = logging.getLogger("coalface"), self.stream.path
        named, stream = self.named, self.stream
        options = dict(stream.options) if _is_new(named) else self._own_options()
        some_known, last, runs = after is not None, 0 if after is None else after.rows, LabelRuns()
        with open_blocks(
            path, stream.format, options, rows=stream.rows, after=after, checksums=self.every is not None
        ) as blocks:
            aligner = None if _is_new(named) else _aligner_for(named, path, blocks, grows=True)
            if self.every is not None and after is not None:
                blocks.rows = min(stream.rows, self.every)
            for block in blocks:
                log.debug("learning %r", block)
                if aligner is None:
                    self._begin(block)
                    aligner = _aligner_for(named, path, blocks, grows=True)
                placed = aligner.aligned(block)
                if self.shuffle:
                    placed = placed.subset(self._order(blocks.n_rows, len(block)))
                warned = runs.long_run() is not None
                runs.add(cheapest_labels(placed.cost))
                if not warned and (run := runs.long_run()) is not None and first_time(named.learner, "long run"):
                    _warn_of_long_run(blocks.source, named.classes[run.label].item(), run.length)
                some_known |= self._learn(placed)
                self.progress(*blocks.progress, blocks.n_rows)
                if self.every is not None:
                    blocks.rows = min(stream.rows, self.every)
                    if blocks.n_rows - last >= self.every:
                        last = blocks.n_rows
                        self.checkpoint(blocks.position())
        if not some_known:
            raise InputError("cost must have a known cost to learn from, got only NaN. Pass y or costs, or use ask.")

    def _order(self, n_read: int, n_rows: int) -> NDArray[np.int64]:
        """A random order of the last rows that were read."""
        seed, first = whole_number("random_state", own_seed(self.named.learner)), n_read - n_rows
        return np.random.default_rng([seed, first] if first else seed).permutation(n_rows)

    def _begin(self, block: CostDataset) -> None:
        """Give a new learner the labels of the first block and, if it may ask for true labels, their costs."""
        learner = self.named.learner
        learner.classes = block.classes
        if learner.price_of_truth is not None:
            learner.cost_matrix = block.matrix_of_truths()

    def _learn(self, dataset: CostDataset) -> bool:
        """Learn a block; whether it has a known cost."""
        named, learner, matrix = self.named, self.named.learner, self.stream.options.get("cost_matrix")
        if matrix is not None and learner.round_ == 1:
            learner.cost_matrix = read_cost_matrix(matrix, named.classes)
        known = not np.isnan(dataset.cost).all()
        if known:
            learner.partial_fit(dataset.X, cost=dataset.cost, candidates=dataset.candidates)
        else:
            learner.tell(dataset.X, dataset.cost, candidates=dataset.candidates)
        named.keep_encoder(dataset)
        named.feature_names = dataset.feature_names or named.feature_names
        return known

    def _own_options(self) -> dict[str, Any]:
        """The options of the reader with the labels, the encoder and the costs of the learner."""
        named, found = self.named, stream_format(self.stream.path, self.stream.format)
        options = named.with_own_costs(found, named.with_own_features(found, self.stream.options))
        return reader_options(found, options, named.classes, named.encoder)


def _aligner_for(named: NamedLearner, path: Path, blocks: Blocks, *, grows: bool = False) -> Aligner:
    """What puts the blocks of a stream into the columns of a learner."""
    return Aligner(
        path,
        blocks.sparse,
        named.classes,
        feature_names=named.feature_names,
        width=named.width,
        encoder=named.encoder,
        grows=grows,
    )


def examples_of(named: NamedLearner, stream: Stream, *, candidates: bool = False) -> Iterator[CostDataset]:
    """The blocks of examples whose labels are not known; a label that its line lists alone is ignored with a warning.

    It is probably the true one. With ``candidates``, it is the only one that may be predicted.
    """
    found = stream_format(stream.path, stream.format)
    options = named.with_own_features(found, stream.options)
    if found == "vw":
        options = {"targets": "costs", **options}
    options = reader_options(found, options, named.classes, named.encoder)
    lists_truths: bool | None = None  # until a line lists some of the labels
    with open_blocks(stream.path, stream.format, options, rows=stream.rows, keep_names=False) as blocks:
        aligner = _aligner_for(named, stream.path, blocks)
        for block in blocks:
            dataset = named.warn_of_inputs(aligner.aligned(block))
            if dataset.candidates is None or candidates:
                yield dataset
                continue
            if lists_truths is None and (lists_truths := _lists_true_labels(dataset)):
                _warn_of_true_labels(stream.path)
            if lists_truths and not _lists_true_labels(dataset):
                raise FileFormatError(
                    f"{stream.path}, up to example {blocks.n_rows:,}: the first lines list one label each, later ones "
                    "several. Use the listed labels of all lines, or of none.",
                    remedy={"candidates": True},
                )
            yield dataset.with_fields(candidates=None) if lists_truths else dataset


def _warn_of_long_run(source: Path, label: Any, length: int) -> None:
    warnings.warn(
        DoubtfulDataWarning(
            f"{source} has {length:,} rows in a row with the label {label!r}, so the learner forgets the other labels "
            "meanwhile. Shuffle the rows of the file, or read more rows at a time.",
            remedy={"block": None},
        ),
        stacklevel=4,
    )


def _is_new(named: NamedLearner) -> bool:
    return named.learner.classes is None and not hasattr(named.learner, "classes_")


def _lists_true_labels(dataset: CostDataset) -> bool:
    """Whether every line that lists some of the labels lists a single one."""
    if dataset.candidates is None:
        return False
    n_listed = dataset.candidates.sum(axis=1)
    return bool((n_listed[n_listed < len(dataset.classes)] == 1).all())


def _warn_of_true_labels(path: Path) -> None:
    warnings.warn(
        f"{path} lists one label per line, which is taken for the true label and ignored. Pass --candidates to "
        "predict and ask only about the listed labels.",
        UserWarning,
        stacklevel=4,
    )
