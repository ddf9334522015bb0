"""The demo: what it claims holds on its own runs, and its page needs nothing else."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from coalface.errors import InputError
from coalface.evaluate import Summary
from coalface.studies.demo import (
    HEADINGS,
    RULES,
    SAME_MODEL,
    SHOWN_RULE,
    WARM_UP,
    demo_page,
    in_a_sentence,
    run_demo,
    table_rows,
)
from coalface.studies.known import load_known
from tests.documentation.blocks import ROOT
from tests.pages import assert_needs_nothing_else
from tests.studies.few_digits import use_few_digits


@pytest.fixture(scope="module")
def demo():
    return run_demo(n_permutations=1, seed=1)


def test_passive_asks_for_everything_and_coal_for_less(demo):
    for rows in demo.summaries.values():
        by_name = {row.name: row for row in rows}
        assert by_name["passive"].costs_asked == 1297 * 10
        for name in RULES:
            assert by_name[name].costs_asked <= 1297 * 10
            assert by_name[name].examples_asked <= 1297
        assert by_name[SHOWN_RULE].costs_asked < 0.7 * by_name["passive"].costs_asked


def test_the_default_is_better_than_passive_with_far_fewer_zero_one_costs(demo):
    rows = {row.name: row for row in demo.summaries["0/1"]}
    assert rows[SHOWN_RULE].fewer_costs > 8
    assert rows[SHOWN_RULE].test_cost < rows["passive"].test_cost


def test_the_learner_is_also_compared_with_its_own_model_that_sees_every_cost(demo):
    for rows in demo.summaries.values():
        linear, same, ours = (
            next(row for row in rows if row.name == name) for name in ("passive", SAME_MODEL, SHOWN_RULE)
        )
        assert (same.costs_asked, same.examples_asked) == (linear.costs_asked, linear.examples_asked) == (12970, 1297)
        assert same.test_cost < 0.5 * linear.test_cost
        assert ours.test_cost < same.test_cost + 0.02


def test_the_table_the_page_and_the_readme_have_the_same_factor(demo):
    page = demo_page(demo)
    for rows in demo.summaries.values():
        cells = dict(zip(HEADINGS, table_rows(rows)[RULES.index(SHOWN_RULE)], strict=True))
        saving = cells["saving at the match"]
        assert f"<strong>{saving}</strong>" in page
        sentence = in_a_sentence(rows)
        assert f"{saving.removesuffix('x')} times fewer costs ({cells['costs to match passive']} instead of" in sentence
        assert f"{cells['examples asked = true labels']} true labels would have given these costs" in sentence


def test_the_readme_says_what_the_figure_was_drawn_from():
    drawn = json.loads((ROOT / "docs" / "demo.json").read_text(encoding="utf-8"))
    rows = [
        Summary(**{name: np.nan if value is None else value for name, value in row.items()}) for row in drawn["0/1"]
    ]
    assert [row.name for row in rows] == list(RULES)
    assert f"{in_a_sentence(rows)}." in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def test_more_mellowness_asks_for_more_costs(demo):
    for rows in demo.summaries.values():
        asked = {row.name: row.costs_asked for row in rows}
        assert asked["coal 0.003"] < asked["coal 0.01"]


def test_every_rule_sees_the_same_permutations_and_begins_with_the_warm_up(demo):
    for runs in demo.runs.values():
        published = {name: curves for name, curves in runs.items() if name not in (SHOWN_RULE, SAME_MODEL)}
        starts = {name: [curve.test_cost[0] for curve in curves] for name, curves in published.items()}
        assert all(start == starts["passive"] for start in starts.values())  # 10 examples: all are asked in full
        assert all(curve.examples_queried[-1] >= WARM_UP for curves in published.values() for curve in curves)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(monkeypatch):
    use_few_digits(monkeypatch)
    first, again, other = run_demo(2, seed=1), run_demo(1, seed=1), run_demo(1, seed=2)
    for kind, runs in first.runs.items():
        for name, curves in runs.items():
            assert np.array_equal(curves[0].test_cost, again.runs[kind][name][0].test_cost)
    assert not np.array_equal(again.queries.predicted, other.queries.predicted)


def test_test_rows_are_never_trained_on():
    train, test = load_known("digits")
    assert (len(train), len(test)) == (1297, 500)
    every = np.vstack([train.X.toarray(), test.X.toarray()])
    assert len(np.unique(every, axis=0)) == len(every)


def test_costs_are_the_distance_of_the_digits():
    matrix = load_known("digits-distance").train.cost_matrix
    assert matrix.max() == 1.0
    assert (np.diag(matrix) == 0).all()
    assert np.array_equal(matrix, matrix.T)


def test_progress_reaches_its_end(monkeypatch):
    use_few_digits(monkeypatch)
    seen = []
    run_demo(1, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(RULES) * 2, len(RULES) * 2)
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))


def test_the_page_loads_nothing_from_anywhere(demo):
    assert_needs_nothing_else(demo_page(demo))


def test_the_page_shows_every_number_of_the_tables_and_four_well_formed_pictures(demo):
    page = demo_page(demo)
    for rows in demo.summaries.values():
        for cells in table_rows(rows):
            assert len(cells) == len(HEADINGS)
            assert all(f"<td>{cell}</td>" in page for cell in cells)
    pictures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) == 4
    assert all(ET.fromstring(picture).get("aria-label") for picture in pictures)


def test_no_permutations_are_refused():
    with pytest.raises(InputError, match="permutations must be at least 1, got 0"):
        run_demo(0)
