"""Which columns of new rows have left what was learned; the rows of many columns, such as words, are not watched."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coalface.data.departures import LEAST_ROWS, NUMBERS, departure_of, has_left, has_unseen, margins
from coalface.data.encoding.columns import CategoryColumn, EncodedColumn, NumberColumn
from coalface.data.encoding.dates import LEARNED_DATES, DateColumn
from coalface.data.input_ranges import InputRanges
from coalface.data.rows import Rows
from coalface.errors import DoubtfulColumnWarning, counted, warn_user
from coalface.kernels.state import RoundArrays
from coalface.learner.monitor import first_time
from coalface.learner.state import LearnerState

Table = NDArray[np.float32]
_MOST_COLUMNS = 1000
_LOOKED_AT, _COUNTED = 500, 10_000  # rows; if they have left a range, more are counted
_NAMED = 5  # columns in a message


def keep_inputs(learner: LearnerState, rows: Rows, rounds: RoundArrays) -> None:
    """Remember the ranges of rows that are learned."""
    width = _watched(learner, rows)
    if width and not learner.model_.reads_label_features:
        if learner._inputs is None:
            learner._inputs = InputRanges()
        learner._inputs.tell(rows, width, rounds.asked, rounds.costs)


def _watched(learner: LearnerState, rows: Rows) -> int:
    """How many columns are watched."""
    encoder = vars(learner).get("encoder_")
    width: int = rows.width if encoder is None else encoder.n_narrow
    return width if width <= _MOST_COLUMNS else 0


def warn_of_inputs(learner: LearnerState, rows: Rows, names: Sequence[str] | None = None) -> None:
    """Warn once of each column of new rows that has left what was learned; ``names`` are those of rows of numbers.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"]).tell([[size / 100] for size in range(100)], [[0.2, 0.9]] * 100)
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     labels = learner.predict([[size / 10] for size in range(100)])
    >>> print(caught[0].message)
    Column 0 of 89 of 100 rows lies above 0.99, the largest value learned (up to 9.9, 9 times the range further). ...
    """
    ranges = learner._inputs
    new = None if ranges is None or not rows.n_rows else ranges.due(rows)
    if ranges is None or new is None:
        return
    with learner.model_.lock:
        ranges.settle()
    names = vars(learner).get("feature_names_in_") if names is None else names
    found = [text for place, text in _departures(learner, ranges, new, names) if first_time(learner, f"input {place}")]
    if found:
        more = f"; and {counted(len(found) - _NAMED, 'column')} more" if len(found) > _NAMED else ""
        warn_user(
            f"C{'; '.join(found[:_NAMED])[1:]}{more}. Predictions there are guesses: tell the learner such examples, "
            "or leave the column out.",
            DoubtfulColumnWarning,
        )


def _departures(
    learner: LearnerState, ranges: InputRanges, rows: Rows, names: Sequence[str] | None
) -> Iterator[tuple[int, str]]:
    """The place of each column of new rows that has left what was learned, and how it has."""
    encoder, width = vars(learner).get("encoder_"), len(ranges.lowest)
    table = _spread(rows, _LOOKED_AT).dense(width)
    low, high = margins(ranges.lowest, ranges.highest)
    beyond = np.maximum((table < low).sum(axis=0), (table > high).sum(axis=0))
    flagged = has_left(beyond, len(table), ranges.n_rows, width)
    columns: Iterator[tuple[int, EncodedColumn | None]] = (
        ((place, None) for place in range(width)) if encoder is None else encoder.narrow_columns()
    )
    for place, column in columns:
        if isinstance(column, CategoryColumn):
            own = slice(place, place + column.width)
            filled = ranges.filled[own]
            if np.count_nonzero(table[:, own][:, filled == 0]) < LEAST_ROWS:
                continue
            found = _unseen(column.name, _spread(rows, _COUNTED).dense(width)[:, own], filled, ranges.n_rows)
        elif flagged[place] and (column is None or isinstance(column, NumberColumn | DateColumn)):
            name = place if names is None or place >= len(names) else str(names[place])
            mean, scale = (0.0, 1.0) if column is None else column.first_unit
            ends = (float(ranges.lowest[place]) * scale + mean, float(ranges.highest[place]) * scale + mean)
            found = departure_of(
                name if column is None else column.name,
                _spread(rows, _COUNTED).dense(width)[:, place].astype(np.float64) * scale + mean,
                ends,
                ranges.n_rows,
                n_columns=width,
                words=LEARNED_DATES if isinstance(column, DateColumn) else NUMBERS,
            )
        else:
            continue
        if found is not None:
            yield place, found


def _unseen(name: str, table: Table, filled: NDArray[np.int64], n_learned: int) -> str | None:
    """How many rows have a value of a category that was not learned; None if chance explains it."""
    n_unseen, n_rows = int(np.count_nonzero(table[:, filled == 0])), len(table)
    if not has_unseen(n_unseen, n_rows, n_learned, int((filled == 1).sum()), int((filled == 2).sum())):
        return None
    return f"column {name!r} of {n_unseen:,} of {n_rows:,} rows has values that were never learned"


def _spread(rows: Rows, most: int) -> Rows:
    """At most so many rows, evenly spread."""
    return rows if rows.n_rows <= most else rows.take(np.linspace(0, rows.n_rows - 1, most).astype(np.int64))
