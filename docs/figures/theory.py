"""Draw docs/figures/theory.svg, the three examples of the paper: ``make figure``."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coalface.paper import Schedule, difficulty
from coalface.paper.problems import FiniteProblem, certain_best, confused_pair, loud_errors, run
from coalface.report import figure_style
from coalface.report.figure_style import legend_above, standalone, styled_figure, svg_of

N_ROUNDS, N_LABELS, POOL, CONSTANT, SEEDS = 1_000, 10, 200, 0.5, range(5)
SIZES = (4, 16, 64, 256, 1_024)


class Curve(NamedTuple):
    """A line of a panel."""

    name: str
    colour: figure_style.Colour
    dash: str
    x: list[float]
    y: list[float]


def schedule_of(problem: FiniteProblem) -> Schedule:
    """The theory's schedule for a class, with a constant so small that questions end within the figure."""
    members, _, labels = problem.predictions.shape
    return Schedule(n_labels=labels, class_size=members, constant=CONSTANT)


def asked_over_rounds(problem: FiniteProblem, rule: str) -> Curve:
    """The costs that a rule has asked for after each round."""
    schedule = schedule_of(problem)
    learner = problem.learner(lambda i: float(schedule.loss_slack(i, N_ROUNDS)), rule)
    costs = run(problem, learner, N_ROUNDS).costs
    return Curve(rule, figure_style.RULES[rule], "solid", list(range(1, N_ROUNDS + 1)), costs.tolist())


def asked_over_sizes() -> list[Curve]:
    """The costs asked for with classes of growing size, and their disagreement coefficients."""
    problems = [loud_errors(size) for size in SIZES]
    asked = []
    for problem in problems:
        slack = schedule_of(problem).loss_slack
        learners = [problem.learner(lambda i, slack=slack: float(slack(i, N_ROUNDS))) for _ in SEEDS]
        runs = [run(problem, learner, N_ROUNDS, seed) for seed, learner in zip(SEEDS, learners, strict=True)]
        asked.append(float(np.mean([trace.costs[-1] for trace in runs])))
    found = [difficulty(problem.predictions) for problem in problems]
    sizes = list(map(float, SIZES))
    return [
        Curve("coal", figure_style.RULES["coal"], "solid", sizes, asked),
        Curve("theta_1", figure_style.GUARANTEED, "dashed", sizes, [each.by_examples for each in found]),
        Curve("theta_0", figure_style.GUARANTEED, "dotted", sizes, [each.by_labels for each in found]),
    ]


def panels() -> dict[str, list[Curve]]:
    """The lines of the three panels by their titles."""
    certain, confused = certain_best(POOL, N_LABELS), confused_pair(POOL, N_LABELS)
    return {
        "1. the best label is certain": [asked_over_rounds(certain, rule) for rule in ("coal", "no-domination")],
        "2. two labels can be confused": [asked_over_rounds(confused, rule) for rule in ("coal", "all-or-none")],
        "3. errors that are loud everywhere": asked_over_sizes(),
    }


def draw(shown: dict[str, list[Curve]]) -> str:
    """The panels side by side, as SVG text."""
    from matplotlib.ticker import FuncFormatter

    with styled_figure((13.0, 4.0), salt="theory") as figure:
        named: dict[str, Any] = {}
        for axes, (title, curves) in zip(figure.subplots(1, 3), shown.items(), strict=True):
            axes.set_title(title, loc="left", fontweight="bold", pad=8)
            for curve in curves:
                color = figure_style.placeholder_for(curve.colour)
                marker = "o" if len(curve.x) < 10 else ""
                (line,) = axes.plot(curve.x, curve.y, color=color, linestyle=curve.dash, marker=marker, clip_on=False)
                named.setdefault(curve.name, line)
            by_size = len(curves[0].x) < 10
            axes.set_xlabel("regressors in the class" if by_size else "rounds")
            axes.set_ylabel("costs asked for, or coefficient" if by_size else "costs asked for")
            if by_size:
                axes.set_xscale("log", base=2)
                axes.set_yscale("log")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(FuncFormatter(lambda value, _: figure_style.short(value)))
        legend_above(figure, named, handlelength=2.6)
        return standalone(svg_of(figure, "The three examples of the paper: costs asked for"))


def main() -> None:
    """Draw the figure and print the final number of each line."""
    shown = panels()
    for title, curves in shown.items():
        for curve in curves:
            print(
                title, "|", curve.name, [round(value, 1) for value in (curve.y if len(curve.y) < 10 else curve.y[-1:])]
            )
    Path(__file__).with_suffix(".svg").write_text(draw(shown) + "\n")


if __name__ == "__main__":
    main()
