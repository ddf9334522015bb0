"""A ranking is that of the whole pool, however it is split; duplicates count once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pyarrow import parquet

from coalface import Audits, CoalClassifier
from coalface.errors import FileFormatError, InputError
from coalface.learner.pool import possible_savings
from coalface.studies.pools import intake, rank_pool
from coalface.studies.pools.pool_files import FILE, LABEL, PLACE, ROW, SAVING, Ranking
from tests.reference.ranking import plain_ranking, possible_saving

from .made_pools import LABELS, made_examples, made_learner, save_model, write_parts


def ranked(folder):
    return parquet.read_table(folder / "ranking.parquet").to_pydict()


def row_numbers(table):
    return [int(note.removeprefix("note ")) for note in table["note"]]


@pytest.mark.parametrize("model", ["online", "forest", "ridge", "classes", "auto"])
def test_an_example_has_the_same_possible_saving_alone_and_in_a_batch(model):
    learner, X = made_learner(model), made_examples(40)
    savings = possible_savings(learner, X)
    assert (savings > 0).any()
    assert_allclose(savings, [possible_saving(learner, row) for row in X], atol=1e-6)
    assert_allclose(savings, [possible_savings(learner, [row])[0] for row in X], atol=1e-6)


def test_audits_and_budgets_do_not_change_the_possible_saving():
    learner, X = made_learner(), made_examples(40)
    expected = possible_savings(learner, X)
    learner.set_params(audits=Audits(1.0), budget={"costs": 1, "over": 1000})
    assert np.array_equal(possible_savings(learner, X), expected)


def test_savings_have_the_unit_of_the_costs():
    X = made_examples(40)
    wide = CoalClassifier(LABELS, model="online", audits=None, mellowness=0.3, cost_bounds=(0.0, 10.0))
    unit = CoalClassifier(LABELS, model="online", audits=None, mellowness=0.3)
    Z, cost = made_examples(60, seed=5), np.random.default_rng(3).random((60, 3)).round(2)
    wide.partial_fit(Z, cost=10 * cost)
    unit.partial_fit(Z, cost=cost)
    assert possible_savings(unit, X).any()
    assert_allclose(possible_savings(wide, X), 10 * possible_savings(unit, X), atol=1e-4)


def test_where_one_label_is_possible_nothing_can_be_saved():
    only = np.tile([True, False, False], (40, 1))
    assert not possible_savings(made_learner(), made_examples(40), candidates=only).any()


@settings(deadline=None, max_examples=25)
@given(data=st.data(), n=st.integers(1, 60), top=st.integers(1, 70), size=st.integers(1, 20))
def test_the_ranking_is_that_of_the_whole_pool_for_any_split(tmp_path_factory, data, n, top, size):
    folder = tmp_path_factory.mktemp("pool")
    ends = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    learner, X = made_learner(), made_examples(n, seed=n)
    model = save_model(learner, folder / "m.coal")
    pattern = write_parts(folder / "pool", X, ends)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake.Intake, "batch_size", size)
        outcome, found = rank_pool(model, [pattern], folder / "ranking.parquet", top, workers=1)
    table = ranked(folder)
    numbers, savings = plain_ranking(learner, X, top)
    assert (outcome.rows, found) == (n, len(numbers))
    assert row_numbers(table) == numbers
    assert_allclose(table[SAVING], savings, atol=1e-6)
    assert table[PLACE] == list(range(1, found + 1))
    assert table[LABEL] == learner.predict(X[numbers]).tolist() if numbers else True
    places = [f"{file}:{row}" for file, row in zip(table[FILE], table[ROW], strict=True)]
    assert table["id"] == places
    starts = [0, *ends]
    assert [starts[int(file[5:8])] + row for file, row in zip(table[FILE], table[ROW], strict=True)] == numbers
    assert not (folder / "ranking.parquet.parts").exists()


def test_near_duplicates_count_once_and_the_best_of_them_stays(tmp_path):
    learner = made_learner()
    X = made_examples(30, repeated=0.0)
    near = X * (1 + 1e-4)
    model = save_model(learner, tmp_path / "m.coal")
    pattern = write_parts(tmp_path / "pool", np.vstack([X, near]), [30])
    numbers = {}
    for alike in (1.0, 0.999):
        rank_pool(model, [pattern], tmp_path / "ranking.parquet", 60, alike=alike)
        numbers[alike] = row_numbers(ranked(tmp_path))
    assert len(numbers[1.0]) == 2 * len(numbers[0.999])
    assert sorted(number % 30 for number in numbers[0.999]) == sorted({number % 30 for number in numbers[1.0]})
    firsts = list(dict.fromkeys(number % 30 for number in numbers[1.0]))
    assert [number % 30 for number in numbers[0.999]] == firsts


def test_a_learner_that_decides_every_example_alone_keeps_duplicates(tmp_path):
    learner = made_learner()
    learner.set_params(rule__alike=None)
    X = made_examples(20, repeated=0.9)
    rank_pool(
        save_model(learner, tmp_path / "m.coal"), [write_parts(tmp_path / "pool", X, [7])], tmp_path / "ranking.parquet"
    )
    assert len(row_numbers(ranked(tmp_path))) == (possible_savings(learner, X) > 0).sum()


def test_ids_come_from_their_column_and_the_file_has_labels_and_bounds(tmp_path):
    learner, X = made_learner(), made_examples(30)
    ids = [f"t{number}" for number in range(30)]
    pattern = write_parts(tmp_path / "pool", X, [12], ids)
    rank_pool(save_model(learner, tmp_path / "m.coal"), [pattern], tmp_path / "ranking.parquet", 5)
    table = ranked(tmp_path)
    assert table["id"] == [ids[number] for number in row_numbers(table)]
    ranking = Ranking.open(tmp_path / "ranking.parquet")
    assert (ranking.labels, ranking.cost_bounds) == (LABELS, (0.0, 1.0))
    first = next(ranking.examples())
    assert set(first) == {"id", "a", "b", "c", "note"}
    assert first["id"] == table["id"][0]


def test_json_lines_have_the_same_ranking(tmp_path):
    learner, X = made_learner(), made_examples(30)
    model, pattern = save_model(learner, tmp_path / "m.coal"), write_parts(tmp_path / "pool", X, [12])
    for name in ("ranking.parquet", "ranking.jsonl"):
        rank_pool(model, [pattern], tmp_path / name, 5)
    lines, table = (list(Ranking.open(tmp_path / f"ranking.{suffix}").examples()) for suffix in ("jsonl", "parquet"))
    assert lines == table
    assert len(lines) == 5


def test_a_finished_ranking_is_kept_and_a_changed_pool_is_ranked_again(tmp_path):
    learner, X = made_learner(), made_examples(30)
    model, pattern = save_model(learner, tmp_path / "m.coal"), write_parts(tmp_path / "pool", X, [12])
    out = tmp_path / "ranking.parquet"
    first, found = rank_pool(model, [pattern], out, 5)
    again, same = rank_pool(model, [pattern], out, 5)
    assert (first.finished_before, again.finished_before, found, same) == (0, 2, 5, 5)
    write_parts(tmp_path / "pool", X, [12, 20])
    assert rank_pool(model, [pattern], out, 5)[0].finished_before == 0


def test_mistakes_are_one_line(tmp_path):
    model = save_model(made_learner(), tmp_path / "m.coal")
    pattern = write_parts(tmp_path / "pool", made_examples(5), [])
    with pytest.raises(InputError, match=r"must be a \.parquet or \.jsonl file, got"):
        rank_pool(model, [pattern], tmp_path / "ranking.csv")
    with pytest.raises(InputError, match="alike must be a finite number greater than 0"):
        rank_pool(model, [pattern], tmp_path / "ranking.parquet", alike=0.0)
    with pytest.raises(FileFormatError, match="There is no ranking"):
        Ranking.open(tmp_path / "lost.parquet")
    with pytest.raises(FileFormatError, match="must be a ranking that `coalface rank` wrote"):
        Ranking.open(tmp_path / "pool" / "part-000.parquet")
