"""Features of each label of an example: one wide row that holds those of the example and those of its labels.

Columns come in blocks of ``BLOCK``: the first has the features of the example, the next those of the first label, and
so on. Such a row is a row like any other for questions, ledgers and files; the model ``"shared"`` takes it apart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.encoding.table import is_raw
from coalface.data.labels import label_array, label_codes
from coalface.data.rows import Rows, check_rows
from coalface.errors import InputError, shortened

BLOCK = 2**20  # columns of the example, and of each label
MOST_LABELS = np.iinfo(np.int32).max // BLOCK - 1
_FORMS = "numbers (examples, labels, features), or features by label"
Mask = NDArray[np.bool_]


def are_features(candidates: Any) -> bool:
    """Whether ``candidates`` are features of labels, not a table that says which labels are possible.

    >>> are_features([[True, False]]), are_features({"walk": [1.0]}), are_features(np.zeros((5, 3, 2)))
    (False, True, True)
    """
    if isinstance(candidates, Mapping):
        return True
    if isinstance(candidates, list | tuple) and candidates and isinstance(candidates[0], Mapping):
        return True
    return bool(np.ndim(candidates) == 3) if not hasattr(candidates, "columns") else False


def joined(X: Any, features: Any, classes: Any = None) -> tuple[csr_array, Mask | None]:
    """Examples and the features of their labels as one sparse matrix, and which labels are candidates (None: all).

    ``features`` is one of these; in all of them a label without features is not a candidate:

    - an array (n, K, F); features that are all NaN are missing,
    - by label, a row (F,) that is the same for all examples, or a table (n, F), dense or sparse,
    - one mapping per example, from its labels to their rows.

    ``X`` may be None if the examples themselves have no features. Labels without ``classes`` are 0 to K - 1.

    >>> matrix, candidates = joined([[0.5]], [{"walk": [2.0, 3.0]}], ["walk", "fly"])
    >>> [(divmod(column, BLOCK), value) for column, value in zip(matrix.indices.tolist(), matrix.data.tolist())]
    [((0, 0), 0.5), ((1, 0), 2.0), ((1, 1), 3.0)]
    >>> candidates
    array([[ True, False]])
    """
    is_array = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"  # a missing number gets the message of its place
    if hasattr(X, "columns") or (X is not None and not is_array and is_raw(X)):
        raise InputError(
            f"X must be numbers where labels have features, got {type(X).__name__}. Encode it first, and pass an array."
        )
    examples = None if X is None else _block(check_rows(X), "X")
    n_rows = None if examples is None else examples.shape[0]
    tables = _tables(features, classes, n_rows)
    if len(tables) > MOST_LABELS:
        raise InputError(f"At most {MOST_LABELS:,} labels may have features, got {len(tables):,}. Leave some out.")
    n_rows = max((table.shape[0] for table, _ in tables), default=0) if n_rows is None else n_rows
    for k, (table, _) in enumerate(tables):
        if table.shape[0] != n_rows:
            like = "X" if X is not None else "the longest table"
            raise InputError(
                f"candidates must have {n_rows} rows like {like}, got {table.shape[0]} for label number {k}. Pass a "
                "row per example."
            )
    empty = _empty(n_rows)
    blocks = [empty if examples is None else examples, *(table for table, _ in tables)]
    present = np.array([has for _, has in tables]).T
    return _side_by_side(blocks, n_rows), None if present.all() else np.ascontiguousarray(present)


def require_joined(width: int, candidates: Any) -> None:
    """Raise an InputError unless rows of this width are wide rows: then ``candidates`` may be a mask or None.

    >>> require_joined(joined(None, [[[2.0], [3.0]]])[0].shape[1], None)
    """
    if width > BLOCK:
        return
    if candidates is None:
        raise InputError(
            "model='shared' predicts costs from features of the labels, got none. Pass them as candidates=..."
        )
    raise InputError(f"candidates must be {_FORMS}, with model='shared', got {shortened(candidates)}. Pass features.")


def label_rows(rows: Rows, n_labels: int, *, with_example: bool) -> Rows:
    """Each label's features of each row as a row of its own, n x K rows in all.

    With ``with_example``, the features of the example come first, and those of the label after ``BLOCK`` columns.

    >>> matrix, _ = joined([[0.5]], [[[2.0], [3.0]]])
    >>> label_rows(check_rows(matrix), 2, with_example=True).row(1)
    (array([      0, 1048576], dtype=int32), array([0.5, 3. ], dtype=float32))
    >>> label_rows(check_rows(matrix), 2, with_example=False).row(1)
    (array([0], dtype=int32), array([3.], dtype=float32))
    """
    n_rows, owners = len(rows), rows.columns // BLOCK
    if len(owners) and int(owners.max()) > n_labels:
        raise InputError(
            f"X has features of label number {owners.max() - 1}, but there are {n_labels} labels. Pass candidates of "
            "the same labels."
        )
    of_row = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    lengths = np.bincount(of_row * (n_labels + 1) + owners, minlength=n_rows * (n_labels + 1))
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].reshape(n_rows, n_labels + 1)
    lengths = lengths.reshape(n_rows, n_labels + 1)
    first, n_cells = starts[:, 1:].ravel(), lengths[:, 1:].ravel()
    if with_example:  # two parts per row: cells of the example, cells of the label
        first, n_cells = (
            np.stack([np.broadcast_to(part[:, :1], part[:, 1:].shape), part[:, 1:]], axis=2).ravel()
            for part in (starts, lengths)
        )
    before = np.concatenate([[0], np.cumsum(n_cells)])
    places = np.repeat(first - before[:-1], n_cells) + np.arange(before[-1])
    columns = rows.columns[places] % BLOCK
    if with_example:
        columns = columns + np.int32(BLOCK) * (owners[places] > 0).astype(np.int32)
    width = 2 * BLOCK if with_example else int(columns.max(initial=0)) + 1
    return Rows(np.ascontiguousarray(before[:: 2 if with_example else 1]), columns, rows.values[places], width)


def _tables(features: Any, classes: Any, n_rows: int | None) -> list[tuple[csr_array, Mask]]:
    """The features of each label, (n, F), and which examples have it as a candidate."""
    labels = None if classes is None else label_array(classes)
    if isinstance(features, Mapping):
        return _by_label(features, labels, n_rows)
    if isinstance(features, list | tuple) and (not features or isinstance(features[0], Mapping)):
        return _by_example(features, labels)
    try:
        given = np.asarray(features)
        if given.dtype.kind not in "biufO":  # texts, dates and complex numbers
            raise TypeError
        array = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"candidates must be {_FORMS}, got {shortened(features)}. Pass numbers.") from None
    if array.ndim != 3 or (labels is not None and array.shape[1] != len(labels)):
        n_labels = "labels" if labels is None else len(labels)
        raise InputError(
            f"candidates must be {_FORMS}: (examples, {n_labels}, features), got shape {array.shape}. Reshape it."
        )
    missing = np.isnan(array).all(axis=2) & (array.shape[2] > 0)
    array[missing] = 0.0
    names = (
        [f"label number {k}" for k in range(array.shape[1])] if labels is None else list(map(_named, labels.tolist()))
    )
    return [(_block(_checked(array[:, k], name), name), ~missing[:, k]) for k, name in enumerate(names)]


def _by_label(
    features: Mapping[Any, Any], labels: NDArray[Any] | None, n_rows: int | None
) -> list[tuple[csr_array, Mask]]:
    if not features:
        raise InputError(
            "candidates must have the features of at least one label, got an empty mapping. Name the labels."
        )
    names = label_array(list(features)) if labels is None else labels
    label_codes(list(features), names)  # refuses unknown labels
    tables = {label: _table(table, n_rows, label) for label, table in features.items()}
    n_found = max(table.shape[0] for table in tables.values())
    empty = (_empty(n_found), np.zeros(n_found, np.bool_))
    return [
        (tables[name], np.ones(tables[name].shape[0], np.bool_)) if name in tables else empty for name in names.tolist()
    ]


def _table(features: Any, n_rows: int | None, label: Any) -> csr_array:
    name = _named(label)
    if np.ndim(features) == 0:
        raise InputError(f"candidates must be {_FORMS}, got {shortened(features)} for {name}. Pass a row.")
    if np.ndim(features) != 1:
        return _block(_checked(features, name), name)
    one = _block(_checked([features], name), name)
    if n_rows is None:
        raise InputError("candidates must have one row per example if X is None, got one row for all. Pass X.")
    copies = csr_array((np.ones(n_rows, np.float32), (np.arange(n_rows), np.zeros(n_rows, np.int64))), (n_rows, 1))
    return csr_array(copies @ one)


def _by_example(features: Sequence[Mapping[Any, Any]], labels: NDArray[Any] | None) -> list[tuple[csr_array, Mask]]:
    if labels is None:
        raise InputError("candidates by example need the names of all labels. Pass classes=[...] to the learner.")
    present, cells = np.zeros((len(labels), len(features)), np.bool_), [[] for _ in labels]  # type: ignore[var-annotated]
    for i, one in enumerate(features):
        if not isinstance(one, Mapping):
            raise InputError(
                f"candidates must have a mapping from labels to features per example, got {shortened(one)} for example "
                f"{i}. Pass an empty one if it has no candidates."
            )
        for label, code in zip(one, label_codes(list(one), labels).tolist(), strict=True):
            present[code, i] = True
            cells[code].append(_one_row(one[label], f"example {i}, {_named(label)}"))
    found = []
    for code in range(len(labels)):
        lengths = np.zeros(len(features), np.int64)
        lengths[present[code]] = [len(row.columns) for row in cells[code]]
        columns = np.concatenate([np.zeros(0, np.int32), *(row.columns for row in cells[code])])
        values = np.concatenate([np.zeros(0, np.float32), *(row.values for row in cells[code])])
        width = max((row.width for row in cells[code]), default=0)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        found.append((csr_array((values, columns, indptr), (len(features), width)), present[code]))
    return found


def _one_row(features: Any, name: str) -> Rows:
    if np.ndim(features) != 1:
        raise InputError(
            f"candidates of {name} must be one row of numbers, (features,), got {shortened(features)}. Sparse features "
            "are given as one table per label."
        )
    return _checked([features], name)


def _checked(features: Any, name: str) -> Rows:
    """Rows of numbers; an error says whose features they are."""
    try:
        return check_rows(features)
    except InputError as problem:
        reason = str(problem).removeprefix("X must be a table of numbers, one row per example: ")
        reason = reason.removeprefix("X must be finite: ").split(". ")[0].rstrip(".")
        raise InputError(
            f"candidates of {name} must be finite numbers: {reason}. Leave out a label that is not a candidate, or "
            "make all its features NaN in an array."
        ) from None


def _named(label: Any) -> str:
    return f"label {label!r}"


def _empty(n_rows: int) -> csr_array:
    return csr_array((np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(n_rows + 1, np.int64)), (n_rows, 0))


def _block(rows: Rows, what: str) -> csr_array:
    if rows.width > BLOCK:
        raise InputError(
            f"{what} must have at most {BLOCK:,} features where labels have features, got {rows.width:,}. Leave some "
            "out."
        )
    return csr_array((rows.values, rows.columns, rows.indptr), (len(rows), rows.width))


def _side_by_side(blocks: Sequence[csr_array], n_rows: int) -> csr_array:
    """The blocks in one matrix, each from its own column on."""
    parts = [block.tocoo() for block in blocks]
    rows = np.concatenate([part.row for part in parts])
    columns = np.concatenate([part.col.astype(np.int64) + BLOCK * number for number, part in enumerate(parts)])
    values = np.concatenate([part.data for part in parts]).astype(np.float32)
    matrix = csr_array((values, (rows, columns.astype(np.int32))), (n_rows, BLOCK * len(blocks)))
    matrix.sort_indices()
    return matrix
