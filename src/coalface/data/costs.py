"""Checks of the costs that users pass, and their conversion to the internal scale from 0 to 1."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.frames import by_label
from coalface.data.numbers import AUTO
from coalface.errors import DoubtfulDataWarning, InputError, in_one_line, listed, shortened, warn_user

Costs = NDArray[np.float32]
COST_PREFIX = "cost:"  # of the name of a column with the costs of a label
Bounds = tuple[float, float]
_LARGEST_COST = 1e30  # with bounds that follow the answers, so that their span is finite, also in 32 bits
_FEW = 0.001  # of the answers may lie above the bounds, or one in a heavy tail would shrink all others to nothing
_LARGEST_OFFSET = np.float32(1e30)  # of the range of costs, so that sums fit into 32 bits


@dataclass(frozen=True)
class CostScale:
    """The bounds of the user's costs; internally, costs lie between 0 and 1.

    >>> scale = CostScale(0.0, 10.0)
    >>> float(scale.to_unit(np.array(5.0))), float(scale.from_unit(np.array(0.5)))
    (0.5, 5.0)
    """

    floor: float
    ceiling: float
    open: bool = False  # whether costs may lie outside, because the bounds follow the answers
    known: bool = True  # whether some answer has decided the bounds

    @classmethod
    def of(cls, bounds: Any, found: Bounds | None = None) -> "CostScale":
        """The scale of ``cost_bounds``; for "auto" with the bounds ``found`` so far."""
        if isinstance(bounds, str) and bounds == AUTO:
            return cls(*(found or (0.0, 1.0)), open=True, known=found is not None)
        try:
            floor, ceiling = (float(bound) for bound in bounds)
        except (TypeError, ValueError):
            raise InputError(
                f"cost_bounds must be a pair (low, high) or 'auto', got {shortened(bounds)}. Pass two numbers."
            ) from None
        if not (floor < ceiling and np.isfinite(ceiling - floor)):
            raise InputError(f"cost_bounds must be finite with low < high, got {shortened(bounds)}. Correct it.")
        return cls(floor, ceiling)

    @property
    def allowed(self) -> Bounds:
        """The least and the largest cost that may be given."""
        return (-_LARGEST_COST, _LARGEST_COST) if self.open else self.ends

    @property
    def ends(self) -> Bounds:
        """The bounds."""
        return self.floor, self.ceiling

    @property
    def span(self) -> float:
        """The width of the user's scale."""
        return self.ceiling - self.floor

    def to_unit(self, cost: NDArray[Any]) -> NDArray[Any]:
        """Costs on the internal scale."""
        if (self.floor, self.ceiling) == (0.0, 1.0):
            return cost
        return (self.within(cost) - self.floor) / (self.ceiling - self.floor)

    def from_unit(self, cost: NDArray[Any]) -> NDArray[np.float64]:
        """Costs on the user's scale; 0 and 1 become exactly the bounds."""
        share = np.asarray(cost, np.float64)
        return self.floor * (1.0 - share) + self.ceiling * share

    def containing(self, costs: NDArray[np.float64]) -> "CostScale":
        """The scale or, if its bounds follow the answers, one that these costs do not leave."""
        ends = np.append(costs, self.ends)
        return CostScale(float(np.nanmin(ends)), float(np.nanmax(ends))) if self.open else self

    def as_paid(self, cost: Any) -> NDArray[np.float64]:
        """Costs as ledgers have them, on the user's scale: clipped only if the bounds are fixed."""
        return np.array(cost, np.float64) if self.open else self.within(cost)

    def within(self, cost: NDArray[Any]) -> NDArray[np.float64]:
        """Costs on the user's scale, clipped to the bounds: 0.1 in float32 is slightly above 0.1."""
        return np.clip(np.asarray(cost, np.float64), self.floor, self.ceiling)


def bounds_of(answers: NDArray[np.float64], before: Bounds | None = None) -> Bounds | None:
    """The bounds of these costs, which a few of the largest may exceed; None if all are 0.

    With bounds from ``before``, those at least; a side that must move doubles the span, but does not pass 0 needlessly.

    >>> bounds_of(np.array([2.0, 5.0])), bounds_of(np.array([2.0, 5.0, 6.0]), before=(2.0, 5.0))
    ((2.0, 5.0), (2.0, 8.0))
    """
    if not len(answers):
        return before
    low, high = float(answers.min()), float(np.quantile(answers, 1.0 - _FEW, method="higher"))
    high = float(answers.max()) if high <= low else high
    if before is None:
        low, high = (low, high) if low < high else (min(low, 0.0), max(high, 0.0))
        return (low, high) if low < high else None
    (floor, ceiling), span = before, before[1] - before[0]
    if low < floor:
        floor = min(low, floor - span if low < 0.0 else max(floor - span, 0.0))
    if high > ceiling:
        ceiling = max(high, ceiling + span if high > 0.0 else min(ceiling + span, 0.0))
    return floor, ceiling


def check_cost(cost: Any, n_rows: int, classes: NDArray[Any], scale: CostScale, *, clip: bool = True) -> Costs:
    """Costs (n, K) on the internal scale, NaN where unknown; the columns of a data frame are matched by name.

    Costs that an open scale does not contain are learned as its bounds, but scored as they are, without ``clip``.
    """
    array = as_cost_array(by_label(cost, classes, "cost") if hasattr(cost, "columns") else cost)
    if array.shape != (n_rows, len(classes)):
        raise InputError(
            f"cost must have one row per example and one column per label, shape {(n_rows, len(classes))}, "
            f"got {array.shape}. Mark unknown costs with NaN."
        )
    low, high = scale.allowed
    outside = (array < low) | (array > high)  # False for NaN
    if outside.any():
        row, column = np.argwhere(outside)[0]
        label = classes[column].item()
        raise InputError(
            f"The cost of label {label!r} (row {row}) must lie in [{low:g}, {high:g}], "
            f"got {float(array[row, column])!r}. Pass cost_bounds=(low, high) if your costs have another range.",
            remedy={"cost_bounds": None},
        )
    unit = scale.to_unit(array) if clip or not scale.open else (array - scale.floor) / scale.span
    return np.ascontiguousarray(unit, dtype=np.float32)


def as_cost_array(cost: Any) -> NDArray[np.floating[Any]]:
    """Costs as a two-dimensional array of floats."""
    try:
        array = np.asarray(cost)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers have no order")
        if array.dtype.kind not in "biuf":
            array = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"cost must be an array of numbers, NaN where unknown: {in_one_line(problem)}. Correct it."
        ) from None
    if array.ndim != 2:
        raise InputError(f"cost must have two dimensions (examples, labels), got shape {array.shape}. Reshape it.")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def check_cost_matrix(
    cost_matrix: Any, classes: NDArray[Any] | None = None, name: str = "cost_matrix"
) -> NDArray[np.float64]:
    """A (K, K) matrix of known costs, row = truth, column = prediction; a data frame is matched by name."""
    if classes is not None:
        cost_matrix = by_label(cost_matrix, classes, name, rows=True)
    n_labels = None if classes is None else len(classes)
    matrix = as_cost_array(cost_matrix).astype(np.float64)
    if matrix.shape[0] != matrix.shape[1] or (n_labels is not None and len(matrix) != n_labels):
        expected = "(K, K)" if n_labels is None else f"{(n_labels, n_labels)}"
        raise InputError(
            f"{name} must have shape {expected}, row = truth, column = prediction, got {matrix.shape}. Reshape it."
        )
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(f"{name} must be finite, got {matrix[row, column]} at row {row}, column {column}. Correct it.")
    if classes is not None:
        _warn_of_diagonal(matrix, classes, name)
    return matrix


def _warn_of_diagonal(matrix: NDArray[np.float64], classes: NDArray[Any], name: str) -> None:
    """Warn if the right label, on the diagonal, does not cost least in each row."""
    right, others = matrix.diagonal(), np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix)
    if len(matrix) < 2 or (right <= np.nanmin(others, axis=1)).all():
        return
    dearest = int((right > np.nanmax(others, axis=1)).sum())
    if 2 * dearest > len(matrix):
        problem = (
            f"{name} looks like rewards or similarities: in {dearest} of {len(matrix)} rows, the right label, on the "
            f"diagonal, costs most. Pass the greatest reward minus each reward, such as {name}.max() - {name}."
        )
    else:
        row = int((right > np.nanmin(others, axis=1)).argmax())
        problem = (
            f"{name} has a right label that does not cost least: {classes[row].item()!r}, in row {row}. Check that "
            f"rows are true labels, columns are predictions, and both are in the order {listed(classes.tolist())}."
        )
    warn_user(problem, DoubtfulDataWarning)


def check_mask(mask: Any, n_rows: int, classes: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """A boolean array (n, K); the columns of a data frame are matched by name."""
    array, shape = np.asarray(by_label(mask, classes, name)), (n_rows, len(classes))
    if array.dtype != np.bool_ or array.shape != shape:
        raise InputError(
            f"{name} must be a boolean array of shape {shape}, got {array.dtype} {array.shape}. Pass one column per "
            "label."
        )
    return np.ascontiguousarray(array)


def check_offset(offset: Any, n_rows: int, classes: NDArray[Any], scale: CostScale, *, shifted: bool = True) -> Costs:
    """The known part of each cost, (n, K), as a share of the scale; ``shifted`` so that the least of a row is 0.

    Only differences within a row matter, unless abstaining has a cost of its own. A row (K,) counts for every example.

    >>> check_offset([1.0, 3.0], 2, np.array(["walk", "fly"]), CostScale(0.0, 10.0))
    array([[0. , 0.2],
           [0. , 0.2]], dtype=float32)
    """
    array = per_label(offset, n_rows, classes, "offset")
    with np.errstate(over="ignore"):  # too large a number is refused below
        least = array.min(axis=1, keepdims=True) if shifted else 0.0
        shares = np.ascontiguousarray((array - least) / scale.span, np.float32)
    if (np.abs(shares) > _LARGEST_OFFSET).any():
        row, column = np.argwhere(np.abs(shares) > _LARGEST_OFFSET)[0]
        raise InputError(
            f"offset must not differ by more than {_LARGEST_OFFSET:g} times the range of costs within a row, got "
            f"{array[row, column]:g} for label {classes[column].item()!r} (row {row}). Correct it."
        )
    return shares


def check_asking_price(price: Any, n_rows: int, classes: NDArray[Any], name: str = "asking_price") -> Costs:
    """The price of asking for each cost, (n, K), at least 0.

    >>> check_asking_price([1.0, 3.0], 1, np.array(["walk", "fly"]))
    array([[1., 3.]], dtype=float32)
    """
    array = per_label(price, n_rows, classes, name)
    if (array < 0).any():
        row, column = np.argwhere(array < 0)[0]
        raise InputError(
            f"{name} must be at least 0, got {array[row, column]:g} for label {classes[column].item()!r} (row {row}). "
            "Correct it."
        )
    return np.ascontiguousarray(array, np.float32)


def per_label(values: Any, n_rows: int, classes: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Finite numbers (n, K), one per example and label; a row (K,) counts for every example.

    >>> per_label([1, 2], 2, np.array(["walk", "fly"]), "price")
    array([[1., 2.],
           [1., 2.]])
    """
    try:
        array = np.asarray(by_label(values, classes, name), np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"{name} must be an array of numbers: {in_one_line(problem)}. Correct it.") from None
    shape = (n_rows, len(classes))
    if array.shape not in (shape, shape[1:]):
        raise InputError(
            f"{name} must have one number per label, shape {shape[1:]}, or one row of them per example, shape {shape}, "
            f"got {array.shape}. Reshape it."
        )
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0]
        raise InputError(
            f"{name} must be finite, got {array[tuple(place)]} for label {classes[place[-1]].item()!r}. Correct it."
        )
    return np.ascontiguousarray(np.broadcast_to(array, shape))


def checked_answer(answer: Any, example: int, label: Any, scale: CostScale) -> float:
    """The cost that an annotator gave a label, NaN for "can't tell".

    >>> checked_answer("0.5", 3, "fly", CostScale(0.0, 1.0))
    0.5
    """
    try:
        cost = float(answer)
    except (TypeError, ValueError):
        cost = math.inf
    low, high = scale.allowed
    if cost < low or cost > high:
        raise InputError(
            f'answer must return a number from {low:g} to {high:g}, or NaN for "can\'t tell", got '
            f"{shortened(answer)} for label {np.asarray(label).item()!r} of example {example}. Correct the function."
        )
    return cost
