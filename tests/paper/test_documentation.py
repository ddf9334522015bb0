"""The page about theory: its numbers match the functions, and every name is explained."""

from pathlib import Path

import pytest

import coalface.paper as theory
from coalface.paper.effort import begins_to_save_linear

PAGE = (Path(__file__).parents[2] / "docs" / "theory.md").read_text(encoding="utf-8")


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
