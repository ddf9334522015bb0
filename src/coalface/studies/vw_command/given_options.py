"""The options that a command line gives, by name."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from coalface.errors import InputError
from coalface.studies.vw_command.options import Given


class GivenOptions:
    """The options by name; of an option that is given twice, the last value counts, except in lists.

    >>> from coalface.studies.vw_command.options import parse
    >>> options = GivenOptions(parse(["-l", "1", "-l", "0.5", "--quiet"]))
    >>> options.number("learning_rate", 1.0), options.all("learning_rate"), "quiet" in options
    (0.5, ['1', '0.5'], True)
    """

    def __init__(self, given: Sequence[Given]) -> None:
        self._given: dict[str, list[Given]] = {}
        for one in given:
            self._given.setdefault(one.option.name, []).append(one)

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def all(self, name: str) -> list[str]:
        """All values of an option."""
        return [one.value for one in self._given.get(name, [])]

    def first_of(self, names: Iterable[str]) -> Given | None:
        """The first of these options that is given."""
        return next((self._given[name][0] for name in names if name in self._given), None)

    def text(self, name: str, default: str = "") -> str:
        """The value of an option."""
        return self.all(name)[-1] if name in self._given else default

    def path(self, name: str) -> Path | None:
        """The file that an option names."""
        return Path(self.text(name)) if name in self._given else None

    def number(self, name: str, default: float) -> float:
        """The value of an option as a number of at least 0."""
        return _number(self._given[name][-1], low=0.0) if name in self._given else default

    def whole(self, name: str, default: int, least: int) -> int:
        """The value of an option as a whole number."""
        if name not in self._given:
            return default
        number = _number(self._given[name][-1], low=least)
        if number != int(number):
            raise InputError(f"--{name} must be a whole number, got {self.text(name)!r}.")
        return int(number)


def _number(given: Given, low: float) -> float:
    try:
        number = float(given.value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= low):
        raise InputError(f"{given.option.shown} must be a number of at least {low:g}, got {given.value!r}.")
    return number
