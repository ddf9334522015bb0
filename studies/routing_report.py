"""Tables and figures of the routing study: ``python studies/routing.py report``."""

import csv
import gzip
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from coalface.report import figure_style
from coalface.routing import TradeOff

VALUE_OF_QUALITY = 0.05  # dollars for a wrong answer
PRICES = (0.0002, 0.0005, 0.001, 0.003)  # dollars per prompt at which the table gives the loss
_NONE = np.zeros(0)
_COLOURS = {
    "coalface": figure_style.RULES["coal"],
    "joint": figure_style.RULES["no-domination"],  # coalface with this model alone
    "auto": figure_style.RULES["default"],
    "passive": figure_style.RULES["passive"],
    "random costs": figure_style.RULES["all-or-none"],
    "knn": figure_style.RULES["margin"],
    "forest": figure_style.RULES["gradient-boosting"],
}
_SOLID, _DASHED, _DOTTED, _MIXED = figure_style.DASHES
_VARIANTS = {
    "": (_SOLID, "D"),
    "joint": (_SOLID, "o"),
    "words": (_SOLID, "o"),
    "online": (_SOLID, "o"),
    "examples": (_SOLID, "^"),
    "dense": (_DASHED, "s"),
    "costs": (_DASHED, "v"),
    "ridge": (_DOTTED, "P"),
    "joint, 150 in full": (_MIXED, "X"),
}
_SHOWN_RIVALS = {("knn, examples", "0.1"), ("forest, examples", "0.1"), ("passive, ridge", "1.0")}


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
    tasks = _grouped(losses, "data", "features")
    with figure_style.styled_figure((10.0, 3.9 * -(-len(tasks) // 2)), salt="routing-losses") as figure:
        named: dict[str, Any] = {}
        panels = np.ravel(figure.subplots(-(-len(tasks) // 2), 2))
        for axes, (name, of_task) in zip(panels, tasks.items(), strict=False):
            for (learner,), rows in sorted(_grouped(of_task, "learner").items()):
                points = sorted(
                    (np.mean([float(row["share"]) for row in some]), np.mean([float(row["loss"]) for row in some]))
                    for some in _grouped(rows, "asked").values()
                )
                (named[learner],) = axes.plot(*zip(*points, strict=True), **_look(learner))
            _label(axes, ", ".join(name), "share of outcomes bought", [0.05, 0.1, 0.2, 0.5, 1.0])
        for axes in panels[len(tasks) :]:
            axes.remove()
        _write(figure, dict(sorted(named.items())), "Test loss against the share of outcomes bought", path)


def _draw_dollars(curves: dict[tuple[str, ...], list[TradeOff]], path: Path) -> None:
    """The lines of the table of docs/routing.md; summary.md has all."""
    kinds = sorted({features for features, *_ in curves})
    prices = np.geomspace(2e-4, 5.5e-3, 200)
    with figure_style.styled_figure((10.0, 5.0), salt="routing-dollars") as figure:
        named: dict[str, Any] = {}
        for axes, features in zip(np.ravel(figure.subplots(1, len(kinds))), kinds, strict=True):
            for (of, learner, asked), found in sorted(curves.items()):
                if of == features and (asked == "as it asks" or (learner, asked) in _SHOWN_RIVALS):
                    mean = np.nanmean([one.loss_at(prices) for one in found], axis=0)
                    name = learner if asked == "as it asks" else f"{learner} {float(asked):.0%}"
                    (named[name],) = axes.plot(prices, mean, **_look(learner) | {"marker": ""})
            _label(axes, f"routerbench, {features}", "dollars per prompt", [0.0002, 0.0005, 0.001, 0.002, 0.005])
        _write(figure, dict(sorted(named.items())), "Test loss against dollars per prompt", path)


def _look(learner: str) -> dict[str, Any]:
    """A colour per method, dashes and a mark per variant of it."""
    method, _, variant = learner.partition(", ")
    dash, mark = _VARIANTS[variant]
    color = figure_style.placeholder_for(_COLOURS["joint" if variant.startswith("joint") else method])
    return {"color": color, "linestyle": dash, "marker": mark, "markersize": 5}


def _label(axes: Any, title: str, x: str, ticks: list[float]) -> None:
    axes.set_title(title, loc="left", fontweight="bold", pad=8)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(x)
    axes.set_ylabel("test loss")


def _write(figure: Any, named: dict[str, Any], description: str, path: Path) -> None:
    figure_style.legend_above(figure, named, handlelength=2.6)
    path.write_text(figure_style.standalone(figure_style.svg_of(figure, description)) + "\n", encoding="utf-8")
