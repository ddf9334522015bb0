"""How the number of questions grows under Massart noise; the paper says: like a logarithm.

Each line is a learner with ``ask`` and ``tell``, run on generated problems. At each checkpoint the script records the
costs it has asked for and the excess of its expected cost, and compares them with the bounds of the theorems.

    python studies/massart.py                                   every line, into studies/massart
    python studies/massart.py --lines finite online --seeds 3   some of them; the others are kept
    python studies/massart.py --draw                            tables and figure from the runs alone

To add a line, add an entry to ``LINES``.
"""

import argparse
import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coalface import Coal, CoalClassifier, RidgeModel
from coalface.paper import (
    ExactModel,
    FiniteCoal,
    Growth,
    MassartProblem,
    Schedule,
    begins_to_save,
    effort_massart,
    excess_cost_massart,
    growth,
)
from coalface.paper.effort import begins_to_save_linear
from coalface.report import figure_style
from coalface.report.figure_style import DASHES, legend_above, standalone, styled_figure, svg_of
from coalface.studies.tables import write_csv

N_FEATURES, N_LABELS, MARGIN, NOISE = 5, 5, 0.05, 0.1
CHECKPOINTS = (100, 180, 320, 560, 1_000, 1_800, 3_000, 5_600, 10_000, 18_000, 32_000, 56_000, 100_000)
DELAY = 0.01  # batch size as a share of the rounds so far: batches grow with the stream
N_TEST = 5_000
MELLOWNESS = 0.01
CLASS_SIZE = 1_000


class Line(NamedTuple):
    """A learner for a problem and a seed, and the most rounds that are affordable."""

    learner: Callable[[MassartProblem, int], Any]
    most: int = 100_000


class Checkpoint(NamedTuple):
    """What a line has asked for after ``examples`` examples, and its expected cost above the best possible."""

    line: str
    seed: int
    examples: int
    examples_queried: int
    costs_queried: int
    excess_cost: float


def problem_for(seed: int) -> MassartProblem:
    """The problem of a seed: margin and noise are the same for all, the regressors are not."""
    return MassartProblem(N_FEATURES, N_LABELS, MARGIN, NOISE, seed)


def schedule_for() -> Schedule:
    """The theorem's constants for linear regressors with an intercept."""
    return Schedule(n_labels=N_LABELS, dimension=N_FEATURES + 1)


def random_class(problem: MassartProblem, seed: int, size: int = CLASS_SIZE) -> Callable[[Any], Any]:
    """Linear regressors per label in random directions, after the true ones."""
    directions = np.random.default_rng([seed, 2]).normal(size=(size, problem.n_labels, problem.n_features))
    length = np.linalg.norm(problem.weights[0])
    others = length * directions / np.linalg.norm(directions, axis=2, keepdims=True)
    weights = np.concatenate([problem.weights[None], others])
    return lambda X: 0.5 + np.einsum("nd,fkd->fnk", X, weights)


def practical_slack(round_number: int) -> float:
    """The slack that learners use in practice, averaged over rounds."""
    past = max(round_number - 1, 1)
    return float(MELLOWNESS * np.log(N_LABELS * past) / past)


def theorem_slack(round_number: int) -> float:
    """The slack of Algorithm 1 for the finite class, over the longest run."""
    schedule = Schedule(n_labels=N_LABELS, class_size=CLASS_SIZE + 1)
    return float(schedule.loss_slack(round_number, CHECKPOINTS[-1]))


LABELS = list(range(N_LABELS))
EXACT = Coal(width_scale=1.0, in_turn=False)  # the paper's text
LINES = {
    "passive": Line(lambda _problem, _seed: CoalClassifier.as_published(rule="passive", classes=LABELS)),
    "online": Line(lambda _problem, _seed: CoalClassifier.as_published(classes=LABELS, rule__warm_up=10)),
    "default": Line(
        lambda _problem, _seed: CoalClassifier(classes=LABELS, audits=None)
    ),  # without audits, which never end
    "ellipsoid": Line(
        lambda _problem, _seed: CoalClassifier(LABELS, mellowness=0.3, model=RidgeModel("auto"), audits=None)
    ),
    "dual": Line(  # the same mellowness as the ellipsoid's
        lambda _problem, _seed: CoalClassifier(LABELS, mellowness=0.3, model=ExactModel(), rule=EXACT, audits=None),
        3_000,
    ),
    "finite": Line(lambda problem, seed: FiniteCoal(random_class(problem, seed), practical_slack), 18_000),
    "theorem": Line(lambda problem, seed: FiniteCoal(random_class(problem, seed), theorem_slack), 3_000),
}


def run_line(name: str, line: Line, seed: int, checkpoints: Sequence[int] = CHECKPOINTS) -> list[Checkpoint]:
    """One run: ask about a batch, tell the answers, and record the state at each checkpoint."""
    problem = problem_for(seed)
    stops = [n for n in checkpoints if n <= line.most]
    X, _, cost = problem.draw(stops[-1], seed=2 * seed)
    X_test, expected, _ = problem.draw(N_TEST, seed=2 * seed + 1)
    learner, found, done = line.learner(problem, seed), [], 0
    for stop in stops:
        while done < stop:
            batch = slice(done, min(stop, done + max(1, int(DELAY * done))))
            queries = learner.ask(X[batch])
            learner.tell(X[batch], np.where(queries.mask, cost[batch], np.nan), queries.mask)
            done = batch.stop
        chosen = np.asarray(learner.predict(X_test), int)
        excess = float((expected[np.arange(N_TEST), chosen] - expected.min(axis=1)).mean())
        found.append(Checkpoint(name, seed, stop, learner.examples_queried_, learner.costs_queried_, excess))
    return found


GROWTH = ("line", "seeds", "examples", "costs_queried", "share", "slope", "by_log", "by_line", "power", "excess_cost")


def growth_rows(runs: Iterable[Checkpoint], start: int = 1_000) -> list[list[Any]]:
    """One row per line with the columns ``GROWTH``: medians over seeds, the growth fitted after ``start`` examples.

    A short line is fitted after a tenth of its length.
    """
    rows = []
    for name, seeds in by_line(runs).items():
        last = [run[-1] for run in seeds]
        first = min(start, last[0].examples // 10)
        fits = [_fit([point for point in run if point.examples >= first]) for run in seeds]
        medians = np.median(fits, axis=0)
        asked = float(np.median([point.costs_queried for point in last]))
        n = last[0].examples
        excess = float(np.median([point.excess_cost for point in last]))
        rows.append([name, len(seeds), n, asked, asked / (n * N_LABELS), *medians.tolist(), excess])
    return rows


def _fit(run: Sequence[Checkpoint]) -> Growth:
    if len(run) < 3:
        return Growth(*[float("nan")] * 4)  # too short to fit
    return growth([point.examples for point in run], [point.costs_queried for point in run])


def by_line(runs: Iterable[Checkpoint]) -> dict[str, list[list[Checkpoint]]]:
    """The runs of each line, seed by seed."""
    found: dict[str, dict[int, list[Checkpoint]]] = {}
    for point in sorted(runs, key=lambda point: (list(LINES).index(point.line), point.seed, point.examples)):
        found.setdefault(point.line, {}).setdefault(point.seed, []).append(point)
    return {name: list(seeds.values()) for name, seeds in found.items()}


def beginnings() -> list[list[Any]]:
    """The number of examples after which the theorem's own constants begin to save, for three meanings of saving.

    The bound needs a disagreement coefficient; 1 is the smallest for any problem whose classifiers disagree.
    """
    schedule = schedule_for()

    def bound(n: int) -> Any:
        return effort_massart(schedule, n, MARGIN, by_labels=1.0)

    return [
        ["a regressor can be ruled out at all", schedule.first_exclusion()],
        ["Algorithm 1 rules out labels, roughly", begins_to_save_linear(schedule, N_FEATURES, MARGIN)],
        ["Proposition 1 is below asking for everything", begins_to_save(bound, N_LABELS)],
    ]


def draw(runs: Iterable[Checkpoint]) -> str:
    """Costs asked for (medians, with the range over seeds) and excess cost (means) against examples, as SVG text."""
    lines = by_line(runs)
    palette = dict(zip(lines, (figure_style.RULES[name] for name in ("passive", *_HUES)), strict=False))
    with styled_figure((12.5, 4.6), salt="massart") as figure:
        asked, excess = figure.subplots(1, 2)
        named: dict[str, Any] = {}
        for place, (name, seeds) in enumerate(lines.items()):
            n = [point.examples for point in seeds[0]]
            style = {
                "color": figure_style.placeholder_for(palette[name]),
                "linestyle": DASHES[place % len(DASHES)],
                "marker": "o",
            }
            costs, paid = _values(seeds, "costs_queried"), _values(seeds, "excess_cost").mean(axis=0)
            asked.fill_between(n, costs.min(axis=0), costs.max(axis=0), color=style["color"], alpha=0.14, linewidth=0)
            (named[name],) = asked.plot(n, np.median(costs, axis=0), markersize=4, **style)
            excess.plot(n, np.where(paid > 0, paid, np.nan), markersize=4, **style)  # a log axis has no 0
        n = np.array(CHECKPOINTS, float)
        bound = excess_cost_massart(schedule_for(), n, MARGIN)
        (named["the theorem's bound"],) = excess.plot(
            n, bound, color=figure_style.placeholder_for(figure_style.GUARANTEED), linewidth=1.2
        )
        asked.set_title("costs asked for, median", loc="left", fontweight="bold")
        excess.set_title("excess of the expected cost, mean where not 0", loc="left", fontweight="bold")
        for axes in (asked, excess):
            _log_axes(axes)
        legend_above(figure, named, handlelength=3.0)
        return standalone(svg_of(figure, "Questions and excess cost against examples, under Massart noise"))


def _values(seeds: Sequence[Sequence[Checkpoint]], field: str) -> Any:
    return np.array([[getattr(point, field) for point in run] for run in seeds], float)


_HUES = ("coal", "vw", "no-domination", "all-or-none", "margin", "random-costs", "cost-weighted-uncertainty")


def _log_axes(axes: Any) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xlabel("examples")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: figure_style.short(value)))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: figure_style.short(value) if value >= 1 else f"{value:g}")
    )
    axes.xaxis.set_minor_formatter(NullFormatter())


def read_runs(path: Path) -> list[Checkpoint]:
    """The checkpoints of a CSV file; none if it does not exist."""
    if not path.exists():
        return []
    kinds = list(Checkpoint.__annotations__.values())
    with path.open(newline="") as file:
        cells = list(csv.reader(file))[1:]
    return [Checkpoint(*(kind(cell) for kind, cell in zip(kinds, row, strict=True))) for row in cells]


def write(folder: Path, runs: Sequence[Checkpoint]) -> None:
    """Write the runs, the tables and the figure."""
    folder.mkdir(parents=True, exist_ok=True)
    ordered = [point for seeds in by_line(runs).values() for run in seeds for point in run]
    write_csv(folder / "runs.csv", Checkpoint._fields, ordered)
    write_csv(folder / "growth.csv", GROWTH, growth_rows(ordered))
    write_csv(folder / "beginnings.csv", ("what", "examples"), beginnings())
    (folder / "massart.svg").write_text(draw(ordered) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chosen lines, keep the others, and write all files again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lines", nargs="*", choices=list(LINES), default=list(LINES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--most", type=int, default=CHECKPOINTS[-1], help="examples of the longest run")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(""))
    parser.add_argument("--draw", action="store_true", help="draw from existing runs, without running any")
    given = parser.parse_args(arguments)
    chosen = [] if given.draw else given.lines
    runs = [point for point in read_runs(given.out / "runs.csv") if point.line not in chosen]
    for name in chosen:
        for seed in range(given.seeds):
            runs += run_line(name, LINES[name], seed, [n for n in CHECKPOINTS if n <= given.most])
            print(name, *runs[-1][1:])
    write(given.out, runs)


if __name__ == "__main__":
    main()
