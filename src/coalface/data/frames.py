"""Data frames: columns are matched by name to labels and features, and rows by index, never by position."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_array, label_texts
from coalface.errors import InputError, listed


def in_memory(values: Any, name: str = "X") -> Any:
    """Examples or labels of which another library keeps the values elsewhere, as lists or tables; others as they are.

    These are lazy frames of Polars, and datasets of Hugging Face and their columns.
    """
    if isinstance(values, np.ndarray | list | tuple | str | bytes):
        return values
    kind = type(values)
    if kind.__name__ == "LazyFrame":
        return values.collect()
    if kind.__module__.partition(".")[0] == "datasets":
        if kind.__name__ == "Dataset":
            return values.with_format("arrow")[:]
        if not isinstance(values, Sequence):
            raise InputError(
                f"{name} must be a Dataset or one of its columns, got {kind.__name__}. Pass one part, such as "
                f"{name}['train'], or a Dataset in memory."
            )
    return list(values) if isinstance(values, Sequence) else values


def named_columns(table: Any) -> NDArray[Any] | None:
    """The names of a data frame's columns; None for other tables, and for the default numbers 0 to n - 1.

    >>> import pandas
    >>> named_columns(pandas.DataFrame({"fly": [0.5]})), named_columns(pandas.DataFrame([[0.5]]))
    (array(['fly'], dtype='<U3'), None)
    """
    return _names(table, "columns")


def by_label(table: Any, classes: NDArray[Any], name: str, *, rows: bool = False) -> Any:
    """The table with its columns, and its ``rows``, in the order of the labels; a table without names stays as it is.

    >>> import pandas
    >>> by_label(pandas.DataFrame({"fly": [0.9], "walk": [0.2]}), np.array(["walk", "fly"]), "cost")
    array([[0.2, 0.9]])
    """
    columns = _order(table, "columns", classes, name)
    order = _order(table, "index", classes, name) if rows else None
    if rows and (columns is None) != (order is None):
        sides = "columns" if order is None else "rows"
        raise InputError(
            f"{name} must name its rows and its columns, or neither, got names of {sides} only. Name both."
        )
    if columns is None:
        return table
    array = np.asarray(table)[:, columns]
    return array if order is None else array[order]


def by_row(table: Any, X: Any, name: str) -> Any:
    """The table or column with its rows in the order of the examples, if both have an index; otherwise as it is.

    >>> import pandas
    >>> X = pandas.DataFrame({"size": [1.0, 2.0]}, index=["first", "second"])
    >>> by_row(pandas.DataFrame({"fly": [0.9, 0.2]}, index=["second", "first"]), X, "cost")["fly"].tolist()
    [0.2, 0.9]
    """
    if not (_has_rows(table) and _has_rows(X)) or table.index.equals(X.index):
        return table
    found, wanted = list(table.index), list(X.index)
    _refuse_repeated(found, name, "rows")
    _refuse_repeated(wanted, "X", "rows")
    if set(found) != set(wanted):
        if _is_default(found) and _is_default(wanted):
            return table  # of another length, which is refused later
        facts = _difference(found, wanted)
        raise InputError(
            f"{name} must have rows with the index of X, got {facts}. Correct the index, or pass {name}.to_numpy() to "
            "match rows by position."
        )
    return table.loc[X.index]


def in_seen_order(X: Any, estimator: Any) -> Any:
    """The examples with their columns in the order in which the estimator has seen them, new ones last.

    Only data frames change; an InputError if one lacks a column.
    """
    X = _named_by_text(X)
    if not hasattr(X, "columns") or not hasattr(estimator, "feature_names_in_"):
        return X  # the common case
    return in_order(X, estimator.feature_names_in_.tolist())


def _named_by_text(X: Any) -> Any:
    """The examples with columns that scikit-learn knows by name: numbers and tuples as names become texts.

    The numbers 0 to n - 1 are places, not names: their columns are put in this order. A batch of Arrow becomes a table.

    >>> import pandas
    >>> list(_named_by_text(pandas.DataFrame([[1.0, 2.0]], columns=[2021, 2020])).columns)
    ['2021', '2020']
    >>> _named_by_text(pandas.DataFrame([[1.0, 2.0]], columns=[1, 0])).to_numpy()
    array([[2., 1.]])
    """
    if type(X).__name__ == "RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([X])
    if not _has_index(X):
        return X
    names = list(X.columns)
    if all(isinstance(name, str) for name in names) or _is_default(names):
        return X
    if set(names) == set(range(len(names))):
        return X[list(range(len(names)))]
    texts = [str(name) for name in names]
    _refuse_repeated(texts, "X", "columns")
    return X.set_axis(texts, axis=1)


def in_order(X: Any, seen: Sequence[str]) -> Any:
    """A data frame with the ``seen`` columns first; an InputError if it lacks one.

    >>> import pandas
    >>> list(in_order(pandas.DataFrame({"b": [1], "a": [2]}), ["a"]).columns)
    ['a', 'b']
    """
    names = column_names(X)
    if not all(isinstance(name, str) for name in names):
        return X  # scikit-learn says what is wrong
    wanted = [*seen, *(name for name in names if name not in set(seen))]
    if names == wanted:
        return X
    _refuse_repeated(names, "X", "columns")
    missing = [name for name in seen if name not in set(names)]
    if missing:
        new = [name for name in names if name not in set(seen)]
        also = f"; the columns {listed(new)} are new" if new else ""
        raise InputError(
            f"X must have all columns with the feature names seen before, missing {listed(missing)}{also}. Add or "
            "rename them."
        )
    return X[wanted] if not hasattr(X, "column_names") else X.select(wanted)


def column_names(table: Any) -> list[Any]:
    """The names of the columns of a data frame or of a table of Arrow.

    >>> import pandas
    >>> column_names(pandas.DataFrame({"fly": [0.5]}))
    ['fly']
    """
    return list(getattr(table, "column_names", table.columns))


def _names(table: Any, side: str) -> NDArray[Any] | None:
    if not hasattr(table, "columns") or not hasattr(table, side):
        return None
    names = column_names(table) if side == "columns" else list(getattr(table, side))
    if not names or _is_default(names):
        return None
    return label_array(names, f"the names of the {'rows' if side == 'index' else side}")


def _order(table: Any, side: str, classes: NDArray[Any], name: str) -> list[int] | None:
    """The row or column of each label; None if the table does not name them."""
    if not hasattr(table, "columns") or not hasattr(table, side):
        return None
    names = column_names(table) if side == "columns" else getattr(table, side)
    found, wanted = [str(one) for one in names], label_texts(classes)
    if sorted(found) != sorted(wanted):
        if found == [str(number) for number in range(len(found))]:
            return None
        _refuse_repeated(found, name, "rows" if side == "index" else side)
        _refuse_difference(found, wanted, name, "rows" if side == "index" else side)
    place = {one: number for number, one in enumerate(found)}
    return [place[one] for one in wanted]


def _has_index(table: Any) -> bool:
    """Whether a table is a data frame of pandas."""
    return hasattr(table, "columns") and hasattr(table, "index") and hasattr(table, "loc")


def _has_rows(table: Any) -> bool:
    """Whether a table is a data frame or a column of pandas."""
    return hasattr(table, "index") and hasattr(table, "loc")


def _is_default(names: list[Any]) -> bool:
    return names == list(range(len(names)))


def _refuse_repeated(names: list[Any], what: str, side: str) -> None:
    often, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise InputError(f"{what} must have {side} with distinct names, got {often!r} {count} times. Rename them.")


def _refuse_difference(found: list[str], wanted: list[str], name: str, side: str) -> None:
    raise InputError(f"{name} must have {side} named like the labels, got {_difference(found, wanted)}. Rename them.")


def _difference(found: list[Any], wanted: list[Any]) -> str:
    missing = [one for one in wanted if one not in set(found)]
    unknown = [one for one in found if one not in set(wanted)]
    facts = [f"none named {listed(missing)}"] * bool(missing) + [f"the unknown {listed(unknown)}"] * bool(unknown)
    return " and ".join(facts)
