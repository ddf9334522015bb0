"""Tables of outcomes in long form: one line per request and model, with the loss and, if known, the price."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import ID, TABLES, format_of, is_missing, table_records
from coalface.errors import FileFormatError, InputError, shortened

_LOSS_NAMES = ("loss", "cost")


@dataclass(frozen=True)
class OutcomeColumns:
    """The names of the columns of a table of outcomes; all others are features of the request."""

    model: str = "model"
    loss: str | None = None  # by default "loss" or "cost"
    price: str = "price"
    id: str = ID
    ignore: Sequence[str] = ()
    may_lack: Sequence[str] = ("price", ID)  # names of columns that need not exist

    def remembered(self) -> "OutcomeColumns":
        """The names for another table, which may lack what is not needed there.

        >>> OutcomeColumns(price="usd", ignore=("day",)).remembered().may_lack
        ('usd', 'id', 'day')
        """
        return replace(self, may_lack=(self.price, self.id, *self.ignore))


@dataclass(frozen=True)
class Outcomes:
    """Requests with the known losses and prices of models, (n, K) each, NaN where unknown.

    >>> lines = [{"id": 1, "text": "2 + 2?", "model": "small", "loss": 0, "price": 0.1},
    ...     {"id": 1, "text": "2 + 2?", "model": "large", "loss": 0, "price": 0.9},
    ...     {"id": 2, "text": "Prove it.", "model": "small", "loss": 1, "price": 0.3}]
    >>> outcomes = Outcomes.of_lines(lines)
    >>> outcomes.examples, outcomes.models.tolist(), outcomes.loss.tolist()
    ([{'text': '2 + 2?'}, {'text': 'Prove it.'}], ['large', 'small'], [[0.0, 0.0], [nan, 1.0]])
    >>> outcomes.mean_prices()
    {'large': 0.9, 'small': 0.2}
    """

    examples: list[dict[str, Any]]
    models: NDArray[Any]
    loss: NDArray[np.float64]
    price: NDArray[np.float64]

    @classmethod
    def read(
        cls,
        path: Path,
        columns: OutcomeColumns | None = None,
        models: Sequence[Any] | None = None,
        format: str = "auto",
    ) -> "Outcomes":
        """The outcomes of a CSV, JSON lines or Parquet file; ``models`` are by default those of the file."""
        if not path.exists():
            raise FileFormatError(f"There is no file {path}. Check the path.")
        found = format_of(path, format)
        if found not in TABLES:
            raise InputError(f"{path} must be a table ({', '.join(TABLES)}), got {found}. Convert it.")
        return cls.of_lines(table_records(path, found), columns, models, str(path))

    @classmethod
    def of_lines(
        cls,
        lines: Iterable[Mapping[str, Any]],
        columns: OutcomeColumns | None = None,
        models: Sequence[Any] | None = None,
        source: str = "outcomes",
    ) -> "Outcomes":
        """The outcomes of lines; those with the same id, or the same features without ids, are about one request."""
        given = columns or OutcomeColumns()
        listed = list(lines)
        loss_name = _loss_name(given, listed, source)
        _check_named(given, listed, source)
        found: dict[Any, tuple[dict[str, Any], dict[str, tuple[float, float]]]] = {}
        for number, line in enumerate(listed, start=1):
            place = f"{source}, outcome {number}"
            features, outcomes = found.setdefault(*_request(line, given, loss_name, place))
            model = _model(line, given.model, place)
            if model in outcomes:
                remedy = "" if given.id in line else f", or give each request an id of its own in a column {given.id!r}"
                raise FileFormatError(
                    f"{place}: the request has an outcome of {model!r} already. Keep one of them{remedy}."
                )
            if features != (own := _features(line, given, loss_name)):
                name = next(name for name in {**features, **own} if features.get(name) != own.get(name))
                raise FileFormatError(f"{place}: {name!r} differs from an earlier line of the same id. Correct it.")
            loss = _number(line, loss_name, place, high=1.0)
            outcomes[model] = (loss, _number(line, given.price, place))
        return cls._of_requests(list(found.values()), models, source)

    @classmethod
    def _of_requests(
        cls,
        requests: list[tuple[dict[str, Any], dict[str, tuple[float, float]]]],
        models: Sequence[Any] | None,
        source: str,
    ) -> "Outcomes":
        named = sorted({model for _, outcomes in requests for model in outcomes}) if models is None else models
        column = {str(model): k for k, model in enumerate(named)}
        if len(column) < 2:
            raise FileFormatError(f"{source} must have outcomes of at least two models, got {shortened(list(column))}.")
        loss, price = (np.full((len(requests), len(column)), np.nan) for _ in range(2))
        for row, (_, outcomes) in enumerate(requests):
            for model, (lost, paid) in outcomes.items():
                if model not in column:
                    raise FileFormatError(f"{source}: model {model!r} is not one of {shortened(list(column))}.")
                loss[row, column[model]], price[row, column[model]] = lost, paid
        return cls([features for features, _ in requests], np.array(named), loss, price)

    def mean_prices(self) -> dict[Any, float]:
        """The mean known price of each model; an InputError if a model has none."""
        known = ~np.isnan(self.price)
        if not known.any(axis=0).all():
            missing = self.models[~known.any(axis=0)][0].item()
            raise InputError(f"price is not known for {missing!r}. Add a column of prices, or pass price.")
        means = np.where(known, self.price, 0.0).sum(axis=0) / known.sum(axis=0)
        return dict(zip(self.models.tolist(), means.tolist(), strict=True))

    @property
    def has_prices(self) -> bool:
        """Whether any price is known."""
        return not bool(np.isnan(self.price).all())

    def __len__(self) -> int:
        return len(self.examples)


def _loss_name(columns: OutcomeColumns, lines: list[Mapping[str, Any]], source: str) -> str:
    if not lines:
        raise FileFormatError(f"{source} must hold at least one outcome, got none. Check the file.")
    names = (columns.loss,) if columns.loss is not None else _LOSS_NAMES
    found = next((name for name in names if name in lines[0]), None)
    if found is None or columns.model not in lines[0]:
        wanted = repr(columns.model) if found is not None else " or ".join(map(repr, names))
        raise FileFormatError(
            f"{source} must have a column {wanted}, got {shortened(list(lines[0]))}. "
            "Write a line per request and model, or name the column.",
            remedy={"model_column" if found is not None else "loss_column": None},
        )
    return found


def _check_named(columns: OutcomeColumns, lines: list[Mapping[str, Any]], source: str) -> None:
    """Refuse columns that were named but are in no line."""
    found = {name for line in lines for name in line}
    named = {columns.price: "price_column", columns.id: "id_column", **dict.fromkeys(columns.ignore, "ignore")}
    missing = [name for name in named if name not in found and name not in columns.may_lack]
    if missing:
        raise FileFormatError(
            f"{source} has no column {missing[0]!r}. Its columns are {shortened(list(lines[0]))}. Name one of them.",
            remedy={named[missing[0]]: None},
        )


def _features(line: Mapping[str, Any], columns: OutcomeColumns, loss_name: str) -> dict[str, Any]:
    left = {columns.model, loss_name, columns.price, columns.id, *columns.ignore}
    return {name: value for name, value in line.items() if name not in left}


def _request(
    line: Mapping[str, Any], columns: OutcomeColumns, loss_name: str, place: str
) -> tuple[Any, tuple[dict[str, Any], dict[str, tuple[float, float]]]]:
    """The key of the request that a line is about, and the request without outcomes."""
    features = _features(line, columns, loss_name)
    if not features:
        raise FileFormatError(f"{place} must have the request's text or features, got {shortened(dict(line))}.")
    key = line.get(columns.id)
    return (repr(sorted(features.items())) if is_missing(key) else str(key)), (features, {})


def _model(line: Mapping[str, Any], name: str, place: str) -> str:
    model = line.get(name)
    if is_missing(model):
        raise FileFormatError(f"{place}: {name!r} is missing. Name the model.")
    return str(model)


def _number(line: Mapping[str, Any], name: str, place: str, high: float = np.inf) -> float:
    """A number of at least 0, NaN if it is missing."""
    value = line.get(name)
    if is_missing(value):
        return float("nan")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if not 0.0 <= number <= high:
        rule = f"between 0 and {high:g}" if high < np.inf else "of at least 0"
        raise FileFormatError(f"{place}: {name} must be a number {rule}, got {shortened(value)}. Correct it.")
    return number
