"""Tables and figures of the routing study: ``python studies/routing.py report``."""

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np

from coalface import TradeOff

VALUE_OF_QUALITY = 0.05  # dollars for a wrong answer
PRICES = (0.0002, 0.0005, 0.001, 0.003)  # dollars per prompt at which the table gives the loss
_NONE = np.zeros(0)
_MARKS = {"coalface": "o", "passive": "s", "random costs": "v", "knn": "^", "forest": "D"}


def write_report(out: Path) -> None:
    """Write summary.md and the figures from losses.csv and dollars.csv.gz."""
    losses, dollars = rows_in(out / "losses.csv"), rows_in(out / "dollars.csv.gz")
    (out / "summary.md").write_text(summary(losses, dollars), encoding="utf-8")
    _draw_losses(losses, out / "losses.svg")
    _draw_dollars(_curves(dollars), out / "dollars.svg")


def summary(losses: list[dict[str, str]], dollars: list[dict[str, str]]) -> str:
    """The tables as Markdown."""
    tables = [*_loss_tables(losses), *_dollar_tables(_totals(dollars), _curves(dollars))]
    return "\n".join(["# Routing between language models", "", *tables]) + "\n"


def rows_in(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file, packed by gzip if its name says so."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _grouped(rows: list[dict[str, str]], *names: str) -> dict[tuple[str, ...], list[dict[str, str]]]:
    found: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return dict(found)


def _loss_tables(losses: list[dict[str, str]]) -> list[str]:
    lines = []
    for (data, features), of_task in _grouped(losses, "data", "features").items():
        lines += [f"## {data}, {features}: test loss", "", "| learner | outcomes bought | test loss | permutations |"]
        lines += ["|---|---|---|---|"]
        for (learner, _), rows in sorted(_grouped(of_task, "learner", "asked").items()):
            share, loss = (np.array([float(row[name]) for row in rows]) for name in ("share", "loss"))
            spread = f" ± {loss.std(ddof=1):.4f}" if len(loss) > 1 else ""
            lines.append(f"| {learner} | {share.mean():.1%} | {loss.mean():.4f}{spread} | {len(loss)} |")
        lines.append("")
    return lines


def _totals(dollars: list[dict[str, str]]) -> dict[tuple[str, ...], list[float]]:
    """The dollars per prompt, wrong answers included, at the value of quality in use."""
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in dollars:
        if float(row["weight"]) == VALUE_OF_QUALITY:
            key = (row["features"], row["learner"], row["asked"])
            found[key].append(VALUE_OF_QUALITY * float(row["loss"]) + float(row["dollars"]))
    return found


def _curves(dollars: list[dict[str, str]]) -> dict[tuple[str, ...], list[TradeOff]]:
    found: dict[tuple[str, ...], list[TradeOff]] = defaultdict(list)
    for key, rows in _grouped(dollars, "features", "learner", "asked", "seed").items():
        numbers = (np.array([float(row[name]) for row in rows]) for name in ("weight", "loss", "dollars"))
        found[key[:3]].append(TradeOff(*numbers, 0, (), _NONE, _NONE))
    return found


def _dollar_tables(
    totals: dict[tuple[str, ...], list[float]], curves: dict[tuple[str, ...], list[TradeOff]]
) -> list[str]:
    lines = ["## routerbench: dollars per prompt, a wrong answer counted as $0.05", ""]
    heads = " | ".join(f"loss at ${price:g}" for price in PRICES)
    lines += [f"| features | learner | asked | dollars | {heads} | permutations |", "|---" * (5 + len(PRICES)) + "|"]
    for key, values in sorted(totals.items()):
        at = np.nanmean([one.loss_at(PRICES) for one in curves[key]], axis=0)
        cells = " | ".join(f"{loss:.4f}" for loss in at)
        lines.append(f"| {' | '.join(key)} | {np.mean(values):.5f} | {cells} | {len(values)} |")
    return [*lines, ""]


def _draw_losses(losses: list[dict[str, str]], path: Path) -> None:
    from matplotlib.figure import Figure

    tasks = _grouped(losses, "data", "features")
    figure = Figure(figsize=(4.6 * len(tasks), 4.2), layout="constrained")
    for axes, (name, of_task) in zip(np.atleast_1d(figure.subplots(1, len(tasks))), tasks.items(), strict=True):
        for (learner,), rows in sorted(_grouped(of_task, "learner").items()):
            points = sorted(
                (np.mean([float(row["share"]) for row in some]), np.mean([float(row["loss"]) for row in some]))
                for some in _grouped(rows, "asked").values()
            )
            axes.plot(*zip(*points, strict=True), marker=_MARKS[learner.split(",")[0]], label=learner)
        axes.set_xscale("log")
        axes.set_xlabel("share of outcomes bought")
        axes.set_ylabel("test loss")
        axes.set_title(", ".join(name))
        axes.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def _draw_dollars(curves: dict[tuple[str, ...], list[TradeOff]], path: Path) -> None:
    from matplotlib.figure import Figure

    kinds = sorted({features for features, *_ in curves})
    figure = Figure(figsize=(5.4 * len(kinds), 4.4), layout="constrained")
    prices = np.geomspace(1e-4, 5.5e-3, 200)
    for axes, features in zip(np.atleast_1d(figure.subplots(1, len(kinds))), kinds, strict=True):
        for (of, learner, asked), found in sorted(curves.items()):
            if of == features:
                mean = np.mean([one.loss_at(prices) for one in found], axis=0)
                style = {"linewidth": 2.2} if learner == "coalface" else {"linewidth": 1.0, "alpha": 0.8}
                axes.plot(prices, mean, label=f"{learner} {asked}", **style)
        axes.set_xscale("log")
        axes.set_xlabel("dollars per prompt")
        axes.set_ylabel("test loss")
        axes.set_title(f"routerbench, {features}")
        axes.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
