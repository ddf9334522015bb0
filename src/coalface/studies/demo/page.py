"""The demo as an HTML page."""

import math

import numpy as np
from numpy.typing import NDArray

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
from coalface.studies.report import html_page as report
from coalface.studies.report.figures import curve_lines, draw_curves, draw_ranges, range_bars
from coalface.studies.summary import Summary

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
_TABLE_CAPTION = (
    "Medians over {n} permutations of the training rows. Fewer than passive: the costs that passive asks in its full "
    "run divided by the costs asked here. Costs to match passive: where the median curve falls to passive's final test "
    "cost for good (checkpoints at quarter doublings, interpolated in log2). Saving at the match: passive's own number "
    "of costs to reach it for good, divided by this one."
)
_CURVE_CAPTION = (
    "Median test cost over {n} permutations; bands reach from the 15th to the 85th percentile (of each rule's "
    "first setting, for clarity). A dot marks where the longest run of a rule ends: it asked for no more. The axis "
    "begins after the warm-up of the published rules, in which they ask for every cost."
)
_RANGES_CAPTION = (
    "One test example after {round} training rows ({rule}, |i-j|/9 costs): each bar reaches from the lowest to the "
    "highest cost that good regressors still allow. A label whose bar begins right of the guaranteed cost, the least "
    "upper end, cannot be best and is not asked about. Shown is the first test row with the most different outcomes."
)


def table_rows(summaries: list[Summary]) -> list[list[str]]:
    """The cells of a table under ``HEADINGS``, for screen and page."""
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
    n = demo.n_permutations
    return report.page(
        "COAL on handwritten digits",
        _LEAD,
        report.paragraph("CoalClassifier() without any setting, after one pass over all training rows:"),
        report.facts(_facts(demo)),
        _curves(demo, "costs_queried", "Test cost against costs asked for", _CURVE_CAPTION.format(n=n)),
        report.section(
            "The same in numbers",
            *(
                f"<h3>{kind} costs</h3>{report.table(HEADINGS, table_rows(rows), marked=_shown(rows))}"
                for kind, rows in demo.summaries.items()
            ),
            report.paragraph(_TABLE_CAPTION.format(n=n)),
        ),
        _curves(
            demo,
            "examples_queried",
            "Test cost against examples asked about",
            "The same runs, counted in examples with at least one question: what matters where looking at an example "
            "is the expensive part.",
        ),
        _ranges(demo),
        report.section("Settings", report.pairs(_settings(demo)), report.paragraph(CHOICE_OF_SETTINGS)),
        report.section("Time", report.pairs({what: f"{spent:.1f} s" for what, spent in demo.seconds.items()})),
    )


def most_telling_row(queries: Queries) -> int:
    """The first row whose labels show the most different reasons."""
    return int(np.argmax([len(set(codes)) for codes in queries.reason_codes.tolist()]))


def _facts(demo: Demo) -> dict[str, str]:
    facts = {}
    for kind, rows in demo.summaries.items():
        coal, passive = rows[_shown(rows)], rows[0]
        instead = f"{coal.costs_asked:,.0f} instead of {passive.costs_asked:,.0f}"
        facts[f"fewer costs than passive asks, with {kind} costs: {instead}"] = f"{coal.fewer_costs:.1f}x"
        facts[f"test cost with {kind} costs, against {passive.test_cost:.3f} for passive"] = f"{coal.test_cost:.3f}"
    return facts


def _shown(rows: list[Summary]) -> int:
    return [row.name for row in rows].index(SHOWN_RULE)


def _curves(demo: Demo, axis: str, title: str, caption: str) -> str:
    start = WARM_UP * (N_LABELS if axis == "costs_queried" else 1)
    panels = {f"{kind} costs": curve_lines(runs, axis, start) for kind, runs in demo.runs.items()}
    return report.section(title, report.figure(draw_curves(panels, axis), caption))


def _ranges(demo: Demo) -> str:
    i = most_telling_row(demo.queries)
    caption = _RANGES_CAPTION.format(round=f"{demo.queries.first_round - 1:,}", rule=SHOWN_RULE)
    picture = _digit_picture(demo.digits.X_test[i], int(demo.digits.digit_test[i]))
    figure = report.figure(draw_ranges(range_bars(demo.queries, i), "cost of answering this label"), caption)
    return report.section("What COAL knows about one example", report.beside(picture, figure))


def _digit_picture(pixels: NDArray[np.float64], digit: int) -> str:
    """The 8 x 8 picture of a digit, dark where the ink is, or light on a dark page."""
    squares = "".join(
        f'<rect x="{place % 8}" y="{place // 8}" width="1.02" height="1.02" fill-opacity="{value:.3f}"/>'
        for place, value in enumerate(pixels.tolist())
    )
    return (
        f'<svg viewBox="0 0 8 8" role="img" aria-label="A handwritten {digit}" fill="currentColor" '
        f'style="flex: 0 0 9rem; width: 9rem; height: 9rem; border: 1px solid var(--faint); padding: .3rem">'
        f"{squares}</svg>"
    )


def _settings(demo: Demo) -> dict[str, str]:
    n_train = len(demo.digits.digit)
    return {
        "data": f"scikit-learn's digits, 64 brightness values from 0 to 1; {n_train:,} training and {N_TEST} test rows",
        "permutations": f"{demo.n_permutations} of the training rows, seed {demo.seed}, one pass each",
        "rules": ", ".join(RULES),
        SHOWN_RULE: "CoalClassifier(), nothing set",
        "the others": f"as published, with learning rate {LEARNING_RATE:g} and a warm-up of {WARM_UP} examples",
    }
