"""The pages about theory and the exact engine: examples run, numbers match the functions, every name is explained."""

import re
from pathlib import Path

import pytest

import coalface.theory as theory
from coalface.theory.effort import begins_to_save_linear

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")


def test_the_example_runs():
    names = {}
    exec(re.search(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[1], names)
    assert 0.1 <= names["margin"] < 0.11
    assert names["level"].low < names["level"].value < names["level"].high
    assert names["first"] > 10**10
    assert (names["questions"][1:] > names["questions"][:-1]).all()
    assert (names["cost_above_best"][1:] < names["cost_above_best"][:-1]).all()


def test_the_example_of_the_exact_engine_prints_what_the_page_says(capsys):
    page = (ROOT / "docs" / "exact-engine.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", page, flags=re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_every_bound_and_every_measure_is_explained():
    for name in theory.__all__:
        if name.islower():
            assert f"`{name}" in PAGE, name


@pytest.mark.parametrize(("dimension", "labels", "margin"), [(5, 3, 0.2), (6, 5, 0.05), (100, 10, 0.1)])
def test_the_table_of_rounds_is_what_the_functions_give(dimension, labels, margin):
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| {dimension}, {labels}, {margin} |"))
    units = {"million": 1e6, "billion": 1e9, "trillion": 1e12}
    exact, *rough = (cell.strip() for cell in row.strip("| ").split("|")[1:])
    schedule = theory.Schedule(n_labels=labels, dimension=dimension)
    assert int(exact.replace(",", "")) == schedule.first_exclusion()
    found = (
        begins_to_save_linear(schedule, dimension, margin),
        theory.begins_to_save(lambda n: theory.effort_massart(schedule, n, margin, by_labels=1.0), labels),
    )
    for cell, value in zip(rough, found, strict=True):
        number, unit = cell.split()
        assert float(number) * units[unit] == pytest.approx(value, rel=0.05)
