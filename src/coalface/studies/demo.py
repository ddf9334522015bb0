"""The demo on bundled data: runs of our default learner and of the published rules, and the page about them."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import TrainTest
from coalface.errors import InputError
from coalface.evaluate import AXIS_LABELS, Curve, Progress, Summary, rules_panel, simulate, summarize
from coalface.learner import CoalClassifier
from coalface.report import draw_curves, draw_ranges, factor, html_page, range_bars
from coalface.rounds import Queries
from coalface.studies.known import load_known

N_LABELS = 10
LEARNING_RATE = 0.3
WARM_UP = 50
_DATA = {"0/1": "digits", "|i-j|/9": "digits-distance"}  # by kind of costs
PUBLISHED = {  # rule and mellowness of the lines with published settings
    "passive": ("passive", 0.01),
    "coal 0.01": ("coal", 0.01),
    "coal 0.003": ("coal", 0.003),
    "all-or-none 0.01": ("all-or-none", 0.01),
    "no-domination 0.001": ("no-domination", 0.001),
}
SHOWN_RULE = "no tuning"  # the line of the headline numbers and of the cost ranges
SAME_MODEL = "passive same model"  # what that line would learn from all costs
CHOICE_OF_SETTINGS = (
    'The line "no tuning" is CoalClassifier() without any setting. On these rows it learns with a committee of models, '
    'which also learn what a linear model cannot. "passive same model" is this committee with every cost: beside it, '
    '"no tuning" shows what the questions do. The others are the published rules with a linear model, as in the paper, '
    'so a gap between them and "no tuning" is due to the model as well as to the questions. They have one learning '
    "rate, 0.3. Of 0.1, 0.3, 0.5 and 1, that rate gives passive its best median area under the curve on both "
    "kinds of costs, so the choice does not favour COAL. They ask for all costs of their first 50 examples. Of 10, "
    "30, 50 and 100, that is best for COAL at mellowness 0.01 with |i-j|/9 costs, and slightly worse than 10 with 0/1 "
    "costs. The number after a rule is its mellowness; the two ablations use the paper's values, all-or-none 0.01 and "
    "no-domination 0.001. These settings were compared on 10 other permutations, but on the same test rows."
)
HEADINGS = (
    "rule and mellowness",
    "costs asked",
    "fewer than passive",
    "examples asked = true labels",
    "test cost",
    "15-85 %",
    "costs to match passive",
    "saving at the match",
)
_LEAD = (
    "Handwritten digits from scikit-learn: each example has ten labels, and the cost of answering each of them must be "
    "asked for, one by one. How good does a classifier get for what it asked?"
)


RULES = ("passive", SAME_MODEL, SHOWN_RULE, *(name for name in PUBLISHED if name != "passive"))
Runs = dict[str, list[Curve]]


@dataclass(frozen=True)
class _Demo:
    """All runs, by kind of costs and by rule, and one learner's questions about the test rows."""

    problem: TrainTest
    runs: dict[str, Runs]
    queries: Queries
    n_permutations: int
    seed: int
    seconds: dict[str, float]

    @cached_property
    def summaries(self) -> dict[str, list[Summary]]:
        """A table per kind of costs, compared with passive."""
        return {kind: summarize(runs) for kind, runs in self.runs.items()}

    def plain(self) -> dict[str, Any]:
        """The tables as JSON values; null where passive's test cost was never reached."""
        tables = {
            kind: [{name: None if value != value else value for name, value in vars(row).items()} for row in rows]
            for kind, rows in self.summaries.items()
        }
        return {"tables": tables, "permutations": self.n_permutations, "seed": self.seed}


def run_demo(n_permutations: int = 3, seed: int = 0, progress: Progress | None = None) -> _Demo:
    """Every rule on every permutation of the training rows; ``progress(done, total)`` after each run.

    >>> demo = run_demo(n_permutations=1)
    >>> demo.summaries["0/1"][0].costs_asked
    12970.0
    """
    if n_permutations < 1:
        raise InputError(f"permutations must be at least 1, got {n_permutations}.")
    started = time.perf_counter()
    problems = {kind: load_known(name) for kind, name in _DATA.items()}
    orders = np.random.SeedSequence(seed).spawn(n_permutations)
    total, done = len(problems) * len(RULES) * n_permutations, 0
    runs: dict[str, Runs] = {kind: {name: [] for name in RULES} for kind in problems}
    seconds = {"loading and compiling": _compile(problems["0/1"]) - started}
    for source in orders:
        order = np.random.default_rng(source).permutation(len(problems["0/1"].train))
        for kind, problem in problems.items():
            for name in RULES:
                runs[kind][name].append(_run(_learner(name), problem, order))
                done += 1
                if progress is not None:
                    progress(done, total)
    simulated = sum(curve.seconds for of_kind in runs.values() for curves in of_kind.values() for curve in curves)
    seconds[f"{total} simulated runs"] = simulated
    distances = problems["|i-j|/9"]
    queries = _questions_midway(distances, np.random.default_rng(orders[0]))
    return _Demo(distances, runs, queries, n_permutations, seed, seconds)


def _learner(name: str) -> CoalClassifier:
    classes = np.arange(N_LABELS)
    if name == SHOWN_RULE:
        return CoalClassifier(classes)
    if name == SAME_MODEL:
        return CoalClassifier(classes, rule="passive")
    rule, mellowness = PUBLISHED[name]
    return CoalClassifier.as_published(mellowness, LEARNING_RATE, classes=classes, rule=rule, rule__warm_up=WARM_UP)


def _run(learner: CoalClassifier, problem: TrainTest, order: NDArray[np.int64]) -> Curve:
    train, test = problem
    curve = simulate(
        learner,
        train.X,
        train.cost,
        X_test=test.X,
        cost_test=test.cost,
        order=order,
        checkpoints="quarter-doubling",
    )
    if curve.interrupted:  # an incomplete run must not enter a median
        raise KeyboardInterrupt
    return curve


def _compile(problem: TrainTest) -> float:
    """Compile everything with short runs; return the time at their end."""
    few = TrainTest(*(part.subset(slice(20)) for part in problem))
    for name in (SHOWN_RULE, SAME_MODEL, "passive"):
        _run(_learner(name), few, np.arange(20))
    return time.perf_counter()


def _questions_midway(problem: TrainTest, random: np.random.Generator) -> Queries:
    """COAL's questions about the test rows after it has learned half of the training rows."""
    learner = _learner(SHOWN_RULE)
    n_rows = len(problem.train)
    _run(learner, problem, random.permutation(n_rows)[: n_rows // 2])
    return learner.ask(problem.test.X)


def table_rows(summaries: list[Summary]) -> list[list[str]]:
    """The cells of a table with the columns ``HEADINGS``, for screen and page."""
    return [
        [
            row.name,
            f"{row.costs_asked:,.0f}",
            factor(row.fewer_costs),
            f"{row.examples_asked:,.0f}",
            f"{row.test_cost:.4f}",
            f"{row.test_cost_band[0]:.3f}-{row.test_cost_band[1]:.3f}",
            "never" if math.isnan(row.costs_to_match) else f"{row.costs_to_match:,.0f}",
            "" if math.isnan(row.match_saving) else factor(row.match_saving),
        ]
        for row in summaries
    ]


def demo_page(demo: _Demo) -> str:
    """The page as HTML text: numbers to remember, figures, tables, cost ranges, settings."""
    example = int(np.argmax([len(set(codes)) for codes in demo.queries.reason_codes.tolist()]))  # most reasons
    shown = demo.problem.test.subset([example])
    tables = {kind: table_rows(rows) for kind, rows in demo.summaries.items()}
    return html_page.page(
        "demo.html",
        "COAL on handwritten digits",
        _LEAD,
        n=demo.n_permutations,
        facts=_facts(demo),
        cost_curves=_curves(demo, "costs_queried"),
        example_curves=_curves(demo, "examples_queried"),
        headings=HEADINGS,
        tables=tables,
        marked=RULES.index(SHOWN_RULE),
        rows_learned=demo.queries.first_round - 1,
        shown_rule=SHOWN_RULE,
        digit=int(shown.cost.argmin()),
        pixels=shown.X.toarray()[0].tolist(),
        ranges=draw_ranges(range_bars(demo.queries, example), "cost of answering this label"),
        settings=_settings(demo),
        choice_of_settings=CHOICE_OF_SETTINGS,
        times={what: f"{seconds:.1f} s" for what, seconds in demo.seconds.items()},
    )


def _facts(demo: _Demo) -> dict[str, str]:
    facts = {}
    for kind, rows in demo.summaries.items():
        passive, same, ours = (rows[RULES.index(name)] for name in ("passive", SAME_MODEL, SHOWN_RULE))
        if not math.isnan(ours.match_saving):
            instead = f"{ours.costs_to_match:,.0f} instead of {passive.costs_to_match:,.0f}"
            facts[f"fewer {kind} costs to get as good as passive's linear model: {instead}"] = factor(ours.match_saving)
        others = f"the same model has {same.test_cost:.3f}, passive's linear one {passive.test_cost:.3f}"
        ends = f"test cost after {ours.costs_asked:,.0f} {kind} costs; with all {same.costs_asked:,.0f}, {others}"
        facts[ends] = f"{ours.test_cost:.3f}"
    return facts


def in_a_sentence(summaries: Sequence[Summary]) -> str:
    """What the table of 0/1 costs says about the default model, for the README."""
    passive, same, ours = (summaries[RULES.index(name)] for name in ("passive", SAME_MODEL, SHOWN_RULE))
    return (
        f'the default ("{SHOWN_RULE}") gets as good as a linear model that sees every cost with '
        f"{factor(ours.match_saving).removesuffix('x')} times fewer costs ({ours.costs_to_match:,.0f} instead of "
        f"{passive.costs_to_match:,.0f}). It ends at {ours.test_cost:.3f} after {ours.costs_asked:,.0f} costs, where "
        f"its own model with all {same.costs_asked:,.0f} has {same.test_cost:.3f}. Where one true label gives all "
        f"costs of an example, {ours.examples_asked:,.0f} true labels would have given these costs, and "
        f"{same.examples_asked:,.0f} all of them"
    )


def _curves(demo: _Demo, axis: str) -> str:
    start = WARM_UP * (N_LABELS if axis == "costs_queried" else 1)
    panels = [rules_panel(f"{kind} costs", runs, axis, start) for kind, runs in demo.runs.items()]
    return draw_curves(panels, f"Test cost against {AXIS_LABELS[axis]}")


def _settings(demo: _Demo) -> dict[str, str]:
    train, test = demo.problem
    return {
        "data": f"scikit-learn's digits, 64 brightness values from 0 to 1; {len(train):,} training and {len(test)} "
        "test rows",
        "permutations": f"{demo.n_permutations} of the training rows, seed {demo.seed}, one pass each",
        "rules": ", ".join(RULES),
        SHOWN_RULE: "CoalClassifier(), nothing set: a committee of models",
        SAME_MODEL: 'CoalClassifier(rule="passive"): the same committee, which asks for every cost',
        "the others": f"as published: a linear model, learning rate {LEARNING_RATE:g}, a warm-up of {WARM_UP} examples",
    }
