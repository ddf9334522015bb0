"""``Parameter``: one row of the tables of parameters that checks, the command line, TOML files and the pages read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coalface.errors import InputError, shortened

_REFUSED = object()


@dataclass(frozen=True)
class Parameter:
    """A parameter that can be written as text: its path, its meaning, and which values it may have.

    ``field`` is its name in the ``Settings`` of compiled code; ``auto`` and ``none`` are what "auto" and None become.

    >>> warm_up = Parameter("rule.warm_up", "examples asked in full", 5, kind=int, least=0)
    >>> warm_up.name, warm_up.checked(3.0)
    ('warm_up', 3)
    """

    path: str
    meaning: str
    default: Any
    kind: type = float
    field: str = ""
    choices: Mapping[str, Any] | None = None
    least: float = -math.inf
    most: float = math.inf
    above: bool = False  # whether ``least`` itself is refused
    auto: Any = _REFUSED
    none: Any = _REFUSED

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def title(self) -> str:
        """The name in errors: that of its owner comes first where the name alone says too little."""
        owner = self.path.rpartition(".")[0]
        return f"{owner} {self.name}" if owner in ("audits", "abstain") else self.name

    @property
    def takes_auto(self) -> bool:
        """Whether "auto" lets the learner choose the value."""
        return self.auto is not _REFUSED

    @property
    def takes_none(self) -> bool:
        """Whether None turns it off."""
        return self.none is not _REFUSED

    def checked(self, value: Any) -> Any:
        """The value as compiled code reads it; an InputError if it is not allowed."""
        from coalface.data.numbers import AUTO, choice, finite_number, flag, whole_number  # slow to import

        if value is None and self.takes_none:
            return self.none
        if self.choices is not None:
            return choice(self.title, value, self.choices)
        if isinstance(value, str) and self.takes_auto:
            if value != AUTO:
                raise InputError(f"{self.title} must be {AUTO!r} or a number, got {shortened(value)}.")
            return self.auto
        if self.kind is bool:
            return flag(self.title, value)
        if self.kind is int:
            return whole_number(self.title, value, int(max(self.least, 0)))
        return finite_number(self.title, value, self.least, self.most, above=self.above)
