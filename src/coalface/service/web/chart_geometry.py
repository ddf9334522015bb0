"""Numbers as places in a picture; the templates draw them."""

from collections.abc import Sequence

from coalface.service.desk.messages import Progress


def bar(lowest: float, highest: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Where a range begins and how wide it is, in percent of the cost scale.

    >>> bar(1.0, 2.0, (0.0, 4.0))
    (25.0, 25.0)
    """
    floor, ceiling = bounds
    begin, end = (100.0 * (min(max(cost, floor), ceiling) - floor) / (ceiling - floor) for cost in (lowest, highest))
    return round(begin, 2), round(end - begin, 2)


def shares(progress: Progress) -> list[tuple[str, float, float | None, float]]:
    """For each thing that was spent: its name, how much, of how much, and the share in percent.

    >>> shares(Progress(30, 75, 0.0, {"costs": 150}))
    [('examples', 30, None, 0.0), ('costs', 75, 150, 50.0)]
    """
    spent = {"examples": progress.examples, "costs": progress.costs, "price": progress.price}
    rows = []
    for name, amount in spent.items():
        limit = progress.budget.get(name)
        if name != "price" or limit is not None or amount:
            rows.append((name, amount, limit, round(min(100.0 * amount / limit, 100.0), 1) if limit else 0.0))
    return rows


def sparkline(history: Sequence[tuple[float, float]], width: float = 600.0, height: float = 120.0) -> str:
    """The points of a line from the left to the right edge, from 0 at the bottom to the highest value at the top.

    >>> sparkline([(10, 0.4), (20, 0.2)], 100, 40)
    '0.0,0.0 100.0,20.0'
    """
    if len(history) < 2:
        return ""
    first, last = history[0][0], history[-1][0]
    top = max(value for _, value in history) or 1.0
    span = (last - first) or 1.0
    return " ".join(f"{width * (x - first) / span:.1f},{height * (1 - y / top):.1f}" for x, y in history)
