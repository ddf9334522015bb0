"""Draw docs/figures/exact-engine.svg, the figure of docs/exact-engine.md: ``python docs/exact_engine.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

from coalface.paper.dual import Dual
from coalface.paper.engine import certified_range
from coalface.paper.engines import Bisection
from coalface.paper.oracles import BallOracle
from coalface.paper.version_space import LabelAnswers, VersionSpace

N_ANSWERS, SLACK = 24, 0.06
TEXT, SOFT, BAND, EDGE = "#22313f", "#8a9aa8", "#7fb3d5", "#d35400"


def answers():
    """Noisy costs that rise with one feature, and the version space after each answer."""
    random = np.random.default_rng(5)
    feature = random.uniform(-1, 1, N_ANSWERS)
    costs = np.clip(0.45 + 0.35 * feature + random.normal(scale=0.12, size=N_ANSWERS), 0, 1)
    space = VersionSpace(LabelAnswers(BallOracle(1.5)))
    for number, (x, cost) in enumerate(zip(feature, costs, strict=True), start=1):
        space = space.with_answer(np.array([1.0, x]), cost).with_constraint(number + 1, SLACK)
    return feature, costs, space


def plausible_lines(space):
    """The distance of every line (level, slope) of a grid to its tightest constraint; negative if it violates one."""
    levels, slopes = np.linspace(0.28, 0.52, 200), np.linspace(0.12, 0.55, 200)
    grid = np.stack(np.meshgrid(levels, slopes), axis=-1)
    X, _ = space.answers.examples(2)
    return levels, slopes, space.constraints.bounds - space.losses(grid @ X.T)


def ranges_over(space, engine):
    """The lowest and the highest cost for every value of the feature."""
    grid = np.linspace(-1.6, 1.6, 81)
    found = [certified_range(engine(space), np.array([1.0, x]), 1e-3) for x in grid]
    return grid, np.array([one.lowest for one in found]), np.array([one.highest for one in found])


def main() -> None:
    """Draw both panels."""
    plt.rcParams.update(
        {
            "font.family": "sans-serif",
            "font.size": 9,
            "svg.hashsalt": "coalface",
            "svg.fonttype": "none",
            "text.color": TEXT,
        }
    )
    feature, costs, space = answers()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.9), layout="constrained")
    draw_version_space(left, space)
    draw_ranges(right, feature, costs, space)
    folder = Path(__file__).with_name("figures")
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / "exact-engine.svg", metadata={"Date": None}, facecolor="white")


def draw_version_space(axes, space) -> None:
    """The constraints of a few rounds, and the version space of all of them."""
    levels, slopes, room = plausible_lines(space)
    for one in range(3, len(space.constraints) - 1, 3):
        axes.contour(levels, slopes, room[..., one], levels=[0], colors=SOFT, linewidths=0.7)
    axes.contourf(levels, slopes, room.min(axis=-1), levels=[0, np.inf], colors=[BAND])
    axes.contour(levels, slopes, room[..., -1], levels=[0], colors=EDGE, linewidths=1.4)
    axes.plot(*space.answers.best.coefficients, "o", color=TEXT, markersize=4)
    axes.annotate("best", space.answers.best.coefficients, (5, 4), textcoords="offset points")
    axes.plot([], [], color=SOFT, label="constraints of earlier rounds")
    axes.plot([], [], color=EDGE, label="latest constraint alone")
    axes.fill([], [], color=BAND, label="version space: all of them")
    axes.legend(loc="lower left", frameon=False)
    axes.set(title="Plausible lines", xlabel="level of the line", ylabel="slope of the line")


def draw_ranges(axes, feature, costs, space) -> None:
    """The predictions of all lines in the version space."""
    grid, lowest, highest = ranges_over(space, Dual)
    axes.fill_between(grid, lowest, highest, color=BAND, label="range, all constraints (dual)")
    grid, lowest, highest = ranges_over(space, Bisection)
    axes.plot(grid, lowest, color=EDGE, linewidth=1.2, label="range, latest one alone (bisection)")
    axes.plot(grid, highest, color=EDGE, linewidth=1.2)
    best = space.answers.best.predict(np.column_stack([np.ones_like(grid), grid]))
    axes.plot(grid, np.clip(best, 0, 1), color=TEXT, linewidth=1.2, label="best line")
    axes.plot(feature, costs, "o", color=TEXT, markersize=3, label="answered costs")
    axes.legend(loc="upper left", frameon=False)
    axes.set(title="What they predict", xlabel="feature of an example", ylabel="cost", ylim=(-0.02, 1.4))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])


if __name__ == "__main__":
    main()
