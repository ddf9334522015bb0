"""Rate limits by label: calls per minute, or another span of time, and calls at the same time."""

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from coalface.errors import InputError

_SPANS = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "hour": 3600.0, "day": 86_400.0}
_RATE = re.compile(r"(\d+)/([a-z]+)")
_SOON = 0.05  # seconds before a call that waits for another to end is considered again
ALL = ""  # stands for every label without a limit of its own


@dataclass(frozen=True)
class Rate:
    """At most ``calls`` within any ``seconds``, and at most ``concurrent`` at the same time; None: unlimited.

    >>> Rate.of("60/min", concurrent=4)
    Rate(calls=60, seconds=60.0, concurrent=4)
    """

    calls: int | None = None
    seconds: float = 60.0
    concurrent: int | None = None

    @classmethod
    def of(cls, text: str | None, concurrent: int | None = None) -> "Rate":
        """The rate that a text such as "60/min" or "5/s" describes."""
        if concurrent is not None and concurrent < 1:
            raise InputError(f"The number of calls at the same time must be at least 1, got {concurrent}. Raise it.")
        if text is None:
            return cls(concurrent=concurrent)
        match = _RATE.fullmatch(text.strip())
        if match is None or match[2] not in _SPANS or int(match[1]) < 1:
            raise InputError(f"A rate must be like 60/min, 5/s, 1000/h or 9000/day, got {text!r}. Write it so.")
        return cls(int(match[1]), _SPANS[match[2]], concurrent)


class Rates:
    """The limits of each label, and the calls that count against them. Threads may share it.

    A call about several labels counts for each of them. ``clock`` gives seconds, ``pause`` waits for some.

    >>> now = [0.0]
    >>> rates = Rates({"gpt": Rate.of("2/min")}, clock=lambda: now[0])
    >>> rates.begin(["gpt"]), rates.begin(["gpt"]), rates.begin(["gpt"]), rates.begin(["small"])
    (True, True, False, True)
    >>> now[0] = 60.0
    >>> rates.begin(["gpt"])
    True
    """

    def __init__(
        self,
        rates: Mapping[Any, Rate],
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._rates: dict[Any, Rate] = dict(rates)
        self._clock, self._pause = clock, pause
        self._lock = threading.Lock()
        self._began: dict[Any, deque[float]] = {}
        self._under_way: dict[Any, int] = {}

    @classmethod
    def parsed(cls, rates: Iterable[str], concurrent: Iterable[str], labels: Iterable[str] = ()) -> "Rates":
        """The limits of options such as "gpt=60/min" and "gpt=4", or "60/min" and "4" for all other labels.

        >>> rates = Rates.parsed(["60/min", "gpt=5/s"], ["gpt=2"], labels=["gpt", "small"])
        >>> rates.of("gpt"), rates.of("small")
        (Rate(calls=5, seconds=1.0, concurrent=2), Rate(calls=60, seconds=60.0, concurrent=None))
        """
        known = set(labels)
        speeds = dict(_option("--rate", text, known) for text in rates)
        numbers = {name: _number(text) for name, text in (_option("--concurrent", one, known) for one in concurrent)}
        return cls(
            {
                name: Rate.of(speeds.get(name, speeds.get(ALL)), numbers.get(name, numbers.get(ALL)))
                for name in {*speeds, *numbers}
            }
        )

    def __bool__(self) -> bool:
        return bool(self._rates)

    def of(self, label: Any) -> Rate:
        """The limits of a label."""
        return self._rates.get(label) or self._rates.get(ALL) or Rate()

    def begin(self, labels: Iterable[Any]) -> bool:
        """Whether a call about these labels may begin now; if so, it counts, and ``end`` must follow."""
        asked = list(labels)
        with self._lock:
            if any(self._wait_for(label) > 0.0 for label in asked):
                return False
            for label in asked:
                self._began.setdefault(label, deque()).append(self._clock())
                self._under_way[label] = self._under_way.get(label, 0) + 1
        return True

    def end(self, labels: Iterable[Any]) -> None:
        """A call about these labels has ended."""
        with self._lock:
            for label in labels:
                self._under_way[label] -= 1

    def limited(self, answer: Callable[[int, Any], float]) -> Callable[[int, Any], float]:
        """The function that answers questions of ``learner.interview``, called no faster than the limits allow."""

        def wait_and_answer(i: int, label: Any) -> float:
            while not self.begin([label]):
                with self._lock:
                    wait = self._wait_for(label)
                self._pause(max(wait, 1e-3))
            try:
                return answer(i, label)
            finally:
                self.end([label])

        return wait_and_answer

    def _wait_for(self, label: Any) -> float:
        """Seconds until a label is below its limits, as far as that is known; 0 if it is. The caller holds the lock."""
        rate = self.of(label)
        if rate.concurrent is not None and self._under_way.get(label, 0) >= rate.concurrent:
            return _SOON
        began = self._began.setdefault(label, deque())
        while began and began[0] <= self._clock() - rate.seconds:
            began.popleft()
        if rate.calls is None or len(began) < rate.calls:
            return 0.0
        return max(began[0] + rate.seconds - self._clock(), 1e-9)


def _option(option: str, text: str, labels: set[str]) -> tuple[str, str]:
    """The label, or ALL, and the value of an option such as LABEL=VALUE."""
    label, _, value = text.rpartition("=")
    if label and label not in labels:
        raise InputError(
            f"{option} has no label {label!r}; the labels are {', '.join(sorted(labels))}. Name one of them."
        )
    return label, value


def _number(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise InputError(
            f"--concurrent must be a whole number of at least 1, or LABEL=NUMBER, got {text!r}. Correct it."
        )
    return int(text)
