"""The charts of the dashboard as positions in a picture: ticks of the axes, lines and a band. Templates draw them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coalface.learner import Interval

WIDTH, HEIGHT = 540.0, 200.0  # of the plot, without the margins for ticks
_A_DAY = 86400.0
_FORMS = ((300.0, "%H:%M:%S"), (0.9 * _A_DAY, "%H:%M"), (3.1 * _A_DAY, "%b %d %H:%M"))  # of times, by what they span
_HORIZON = 1.0  # a forecast takes at most as much room as the past
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Chart:
    """Ticks as (position, text), lines as (class, points), and the corners of a band; positions in the plot."""

    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[tuple[str, str]]
    band: str = ""
    limit: float | None = None  # the height of the budget


@dataclass(frozen=True)
class _Axes:
    """Maps values to positions; the highest value is at the top."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        (left, right), (bottom, top) = self.x, self.y
        across, up = (x - left) / ((right - left) or 1.0), (y - bottom) / ((top - bottom) or 1.0)
        return round(WIDTH * across, 1), round(HEIGHT * (1.0 - up), 1)

    def line(self, points: Points) -> str:
        return " ".join(f"{x},{y}" for x, y in (self.at(*point) for point in points))


def _ticks(low: float, high: float, n: int = 4) -> list[float]:
    """Round numbers from at most ``low`` to at least ``high``, about ``n`` steps apart.

    >>> _ticks(0, 87), _ticks(0, 0.031)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [0.0, 0.01, 0.02, 0.03, 0.04])
    """
    span = (high - low) or 1.0
    power = 10.0 ** math.floor(math.log10(span / n))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= span / n * 0.75)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * i, 12) for i in range(first, max(last, first + 1) + 1)]


def learning_chart(recent: Points, so_far: Points, floor: float) -> _Chart | None:
    """The cost of the model's predictions, recent ones and all so far, against the number of costs asked.

    >>> learning_chart([(10, 0.4), (20, 0.2)], [(10, 0.4), (20, 0.3)], 0.0).lines[0]
    ('line', '0.0,0.0 540.0,100.0')
    """
    if len(recent) < 2:
        return None
    y_ticks = _ticks(floor, max(value for _, value in [*recent, *so_far]))
    axes = _Axes((recent[0][0], recent[-1][0]), (y_ticks[0], y_ticks[-1]))
    lines = [("line", axes.line(recent))]
    if list(so_far) != list(recent):  # they are the same until there are more predictions than recent ones
        lines.append(("line so-far", axes.line(so_far)))
    return _Chart(_x_numbers(axes), _y_numbers(axes, y_ticks), lines)


def spending_chart(
    spent: Sequence[tuple[float, int]], pace: float | None, expected: Interval | None, budget: float | None
) -> _Chart | None:
    """Costs asked over time; then, at the present pace, the costs that are expected for the rest of the pool.

    >>> chart = spending_chart([(0.0, 0), (3600.0, 100)], 100.0, Interval(50.0, 25.0, 75.0), budget=None)
    >>> chart.lines[1], chart.y_ticks[-1][1]
    (('line ahead', '360.0,100.0 540.0,50.0'), '200')
    """
    if len(spent) < 2 or spent[-1][0] <= spent[0][0]:
        return None
    begin, (now, costs) = spent[0][0], spent[-1]
    ahead = _ahead(now - begin, pace, expected)
    end, most = now, float(costs)
    if ahead is not None:
        end, most = now + ahead[0], costs + ahead[1].highest
    near = budget is not None and budget <= 2.0 * most  # a distant budget would press the line to the ground
    y_ticks = _ticks(0.0, max(most, budget if near and budget is not None else 0.0))
    axes = _Axes((begin, end), (0.0, y_ticks[-1]))
    lines, band = [("line", axes.line(spent))], ""
    if ahead is not None:
        likely = ahead[1]
        lines.append(("line ahead", axes.line([(now, costs), (end, costs + likely.expected)])))
        band = axes.line([(now, costs), (end, costs + likely.highest), (end, costs + likely.lowest)])
    limit = axes.at(begin, budget)[1] if near and budget is not None else None
    return _Chart(_x_times(axes), _y_numbers(axes, y_ticks), lines, band, limit)


def _ahead(past: float, pace: float | None, expected: Interval | None) -> tuple[float, Interval] | None:
    """The seconds that a forecast shows, and its costs: to the end or, where that is far away, a part of the way."""
    if not pace or expected is None or expected.expected <= 0:
        return None
    seconds = 3600.0 * expected.expected / pace
    share = min(1.0, _HORIZON * past / seconds)
    return share * seconds, expected.times(share)


def _x_numbers(axes: _Axes) -> list[tuple[float, str]]:
    wanted = (value for value in _ticks(*axes.x) if axes.x[0] <= value <= axes.x[1])
    return [(axes.at(value, 0.0)[0], f"{value:,.10g}") for value in wanted]


def _y_numbers(axes: _Axes, values: list[float]) -> list[tuple[float, str]]:
    return [(axes.at(axes.x[0], value)[1], f"{value:,.10g}") for value in values]


def _x_times(axes: _Axes) -> list[tuple[float, str]]:
    """Four moments in UTC that differ: the time of day, the date, or both."""
    begin, end = axes.x
    form = next((form for most, form in _FORMS if end - begin < most), "%b %d")
    moments = [begin + (end - begin) * i / 3 for i in range(4)]
    return [(axes.at(at, 0.0)[0], datetime.fromtimestamp(at, UTC).strftime(form)) for at in moments]
