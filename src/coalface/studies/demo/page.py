"""The demo as an HTML page."""

import math

import numpy as np

from coalface.evaluate.summary import AXIS_LABELS, Summary, rules_panel
from coalface.report import html_page
from coalface.report.charts import draw_curves, draw_ranges, range_bars
from coalface.rounds.queries import Queries
from coalface.studies.demo.runs import (
    CHOICE_OF_SETTINGS,
    LEARNING_RATE,
    N_LABELS,
    N_TEST,
    RULES,
    SHOWN_RULE,
    WARM_UP,
    Demo,
)

HEADINGS = (
    "rule and mellowness",
    "costs asked",
    "fewer than passive",
    "examples asked",
    "test cost",
    "15-85 %",
    "costs to match passive",
    "saving at the match",
)
_LEAD = (
    "Handwritten digits from scikit-learn: each example has ten labels, and the cost of answering each of them must be "
    "asked for, one by one. How good does a classifier get for what it asked?"
)


def table_rows(summaries: list[Summary]) -> list[list[str]]:
    """The cells of a table with the columns ``HEADINGS``, for screen and page."""
    return [
        [
            row.name,
            f"{row.costs_asked:,.0f}",
            f"{row.fewer_costs:.1f}x",
            f"{row.examples_asked:,.0f}",
            f"{row.test_cost:.4f}",
            f"{row.test_cost_band[0]:.3f}-{row.test_cost_band[1]:.3f}",
            "never" if math.isnan(row.costs_to_match) else f"{row.costs_to_match:,.0f}",
            "" if math.isnan(row.match_saving) else f"{row.match_saving:.1f}x",
        ]
        for row in summaries
    ]


def demo_page(demo: Demo) -> str:
    """The page as HTML text: numbers to remember, figures, tables, cost ranges, settings."""
    example = most_telling_row(demo.queries)
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
        digit=int(demo.digits.digit_test[example]),
        pixels=demo.digits.X_test[example].tolist(),
        ranges=draw_ranges(range_bars(demo.queries, example), "cost of answering this label"),
        settings=_settings(demo),
        choice_of_settings=CHOICE_OF_SETTINGS,
        times={what: f"{seconds:.1f} s" for what, seconds in demo.seconds.items()},
    )


def most_telling_row(queries: Queries) -> int:
    """The first row whose labels show the most different reasons."""
    return int(np.argmax([len(set(codes)) for codes in queries.reason_codes.tolist()]))


def _facts(demo: Demo) -> dict[str, str]:
    facts = {}
    for kind, rows in demo.summaries.items():
        coal, passive = rows[RULES.index(SHOWN_RULE)], rows[0]
        instead = f"{coal.costs_asked:,.0f} instead of {passive.costs_asked:,.0f}"
        facts[f"fewer costs than passive asks, with {kind} costs: {instead}"] = f"{coal.fewer_costs:.1f}x"
        facts[f"test cost with {kind} costs, against {passive.test_cost:.3f} for passive, a linear model"] = (
            f"{coal.test_cost:.3f}"
        )
    return facts


def _curves(demo: Demo, axis: str) -> str:
    start = WARM_UP * (N_LABELS if axis == "costs_queried" else 1)
    panels = [rules_panel(f"{kind} costs", runs, axis, start) for kind, runs in demo.runs.items()]
    return draw_curves(panels, f"Test cost against {AXIS_LABELS[axis]}")


def _settings(demo: Demo) -> dict[str, str]:
    n_train = len(demo.digits.digit)
    return {
        "data": f"scikit-learn's digits, 64 brightness values from 0 to 1; {n_train:,} training and {N_TEST} test rows",
        "permutations": f"{demo.n_permutations} of the training rows, seed {demo.seed}, one pass each",
        "rules": ", ".join(RULES),
        SHOWN_RULE: "CoalClassifier(), nothing set: a committee of models",
        "the others": f"as published: a linear model, learning rate {LEARNING_RATE:g}, a warm-up of {WARM_UP} examples",
    }
