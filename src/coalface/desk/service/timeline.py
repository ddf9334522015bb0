"""How a project went over time: costs asked, and the cost of the model's predictions so far."""

from collections import deque

_MOST = 512  # points kept; beyond that every second one is dropped
_LATELY = 3600.0  # seconds of the present pace
_LONGEST_PAUSE = 900.0  # seconds without an answer that count as work


class Timeline:
    """The number of costs asked over time, in at most ``_MOST`` points.

    >>> timeline = Timeline()
    >>> for minute in range(60):
    ...     timeline.record(60.0 * minute, 2 * minute)
    >>> timeline.points[-1], round(timeline.pace)
    ((3540.0, 118), 120)
    """

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = []
        self._latest: tuple[float, int] | None = None
        self._every, self._seen = 1, 0
        self._lately: deque[tuple[float, int]] = deque(maxlen=_MOST)

    def record(self, at: float, costs: int) -> None:
        """Record that so many costs were asked at this time."""
        self._latest = (at, costs)
        self._lately.append((at, costs))
        if self._seen % self._every == 0:
            self._points.append((at, costs))
        self._seen += 1
        if len(self._points) > _MOST:
            self._points, self._every = self._points[::2], 2 * self._every

    @property
    def points(self) -> list[tuple[float, int]]:
        """(time, costs asked), the latest included."""
        last = [] if self._latest is None or self._latest in self._points[-1:] else [self._latest]
        return self._points + last

    @property
    def pace(self) -> float | None:
        """Costs per hour of work within the last hour of work, long pauses left out; None before two answers."""
        seconds, costs = 0.0, 0
        points = list(self._lately)
        for (before, had), (at, has) in zip(points[-2::-1], points[:0:-1], strict=True):
            if seconds > _LATELY:
                break
            if 0.0 < at - before <= _LONGEST_PAUSE:
                seconds, costs = seconds + at - before, costs + has - had
        return max(3600.0 * costs / seconds, 0.0) if seconds > 0 else None


class ProgressiveCost:
    """The mean cost of all predictions so far, each made before its example was learned; costs scaled to [0, 1].

    >>> cost = ProgressiveCost()
    >>> cost.add(0.5), cost.add(0.1), cost.mean
    (None, None, 0.3)
    """

    def __init__(self) -> None:
        self._total, self._n = 0.0, 0

    def add(self, cost: float, sign: int = 1) -> None:
        """Add a prediction or, with a sign of -1, remove one."""
        self._total, self._n = self._total + sign * cost, self._n + sign

    @property
    def mean(self) -> float:
        """The mean, within the scale."""
        return min(max(self._total / self._n, 0.0), 1.0) if self._n else 0.0
