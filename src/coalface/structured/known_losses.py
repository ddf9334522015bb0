"""Losses of roll-outs that need not be run again: cached ones by the task's keys, and those of unfinished fits.

A task that gives states a key has its roll-outs cached for good. Without a key, a loss is kept only until the fit or
the example that paid for it is learned: if that fails, a second attempt does not pay again.
"""

import pickle
from collections.abc import Hashable
from hashlib import sha256
from typing import Any

_MOST_KEPT = 1_000_000  # losses of one unfinished fit, some 100 MB


class KnownLosses:
    """Losses by key; ``cached`` ones last, ``paid`` ones until ``forget_paid``.

    >>> known = KnownLosses()
    >>> known.add(("key", "walk"), 2.0, lasting=True)
    >>> known.get(("key", "walk")), known.get("other"), known.plain()
    (2.0, None, [['key', 'walk', 2.0]])
    """

    def __init__(self, cached: dict[Hashable, float] | None = None) -> None:
        self.cached: dict[Hashable, float] = {} if cached is None else cached
        self.paid: dict[Hashable, float] = {}

    def get(self, key: Hashable) -> float | None:
        """The loss, or None if it is unknown."""
        found = self.cached.get(key)
        return self.paid.get(key) if found is None else found

    def add(self, key: Hashable, loss: float, *, lasting: bool) -> None:
        """Keep a loss."""
        if lasting:
            self.cached[key] = loss
        elif len(self.paid) < _MOST_KEPT:
            self.paid[key] = loss

    def forget_paid(self) -> None:
        """Forget what was kept only for a second attempt."""
        self.paid = {}

    def plain(self) -> list[list[Any]]:
        """The cached losses as JSON values, if their keys are numbers, texts or tuples of these."""
        return [[*pair, loss] for pair, loss in self.cached.items() if isinstance(pair, tuple) and _is_plain(pair)]

    @classmethod
    def of_plain(cls, losses: list[list[Any]]) -> "KnownLosses":
        """The losses that ``plain`` returned and JSON has kept.

        >>> KnownLosses.of_plain([[[1, ["a", "b"]], "walk", 2.0]]).cached
        {((1, ('a', 'b')), 'walk'): 2.0}
        """
        return cls({(_hashable(key), action): float(loss) for key, action, loss in losses})


def fingerprint(example: Any) -> str | None:
    """A text that differs between different examples; None if the example cannot be pickled."""
    try:
        return sha256(pickle.dumps(example, protocol=5)).hexdigest()
    except Exception:
        return None


def _is_plain(key: Any) -> bool:
    if isinstance(key, tuple):
        return all(map(_is_plain, key))
    return type(key) in (str, int, float, bool, type(None))


def _hashable(key: Any) -> Hashable:
    return tuple(map(_hashable, key)) if isinstance(key, list) else key
