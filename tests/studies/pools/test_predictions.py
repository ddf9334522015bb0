"""Predictions of a pool are those of its files one by one, and a finished file is not read again."""

import json
import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from coalface.errors import CoalfaceError, FileFormatError, InputError
from coalface.learner.named_learner import NamedLearner
from coalface.studies.pools import intake, predict_pool
from tests.cli.commands import json_lines, run

from .made_pools import NAMES, made_examples, made_learner, save_model, write_parts

TICKETS = [
    {"id": f"t{n}", "text": text, "days": days, "team": team}
    for n, (text, days, team) in enumerate(
        [("my parcel is lost", 3, "post"), ("I want my money back", None, "money"), ("where is it", 9.5, "post")] * 20
    )
]


@pytest.fixture
def pool(tmp_path):
    X = made_examples(50)
    return save_model(made_learner(), tmp_path / "m.coal"), write_parts(tmp_path / "pool", X, [20, 20, 41]), X


def predictions(folder):
    return {path.name.split(".")[0]: parquet.read_table(path) for path in sorted(folder.glob("*.predictions.parquet"))}


def trained_on_tickets(folder):
    from coalface.cli import main

    (folder / "train.jsonl").write_text("".join(json.dumps(ticket) + "\n" for ticket in TICKETS))
    assert main(["train", str(folder / "train.jsonl"), "--label", "team", "--model", str(folder / "t.coal")]) == 0
    return folder / "t.coal"


@pytest.mark.parametrize("executor", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [7, 1000])
def test_predictions_are_those_of_the_whole_pool(pool, tmp_path, executor, size, monkeypatch):
    model, pattern, X = pool
    if executor == "threads":
        monkeypatch.setattr(intake.Intake, "batch_size", size)
    outcome = predict_pool(model, [pattern], costs=True, executor=executor, workers=2)
    assert (outcome.files, outcome.finished_before, outcome.rows) == (4, 0, 50)
    table = pa.concat_tables(predictions(tmp_path / "pool").values())
    learner = NamedLearner.load(model).learner
    assert table["label"].to_pylist() == learner.predict(X).tolist()
    costs = np.column_stack([table[f"cost:{name}"] for name in learner.classes_])
    assert np.array_equal(costs, np.clip(learner.predict_cost(X), 0.0, 1.0))
    assert table["row"].to_pylist() == [*range(20), *range(21), *range(9)]


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv"])
def test_texts_gaps_and_ids_give_what_predict_prints_for_one_file(tmp_path, capsys, suffix, monkeypatch):
    monkeypatch.setattr(intake.Intake, "batch_size", 7)
    model = trained_on_tickets(tmp_path)
    new = [{name: cell for name, cell in ticket.items() if name != "team"} for ticket in TICKETS[:23]]
    path = tmp_path / f"part.{suffix}"
    if suffix == "parquet":
        parquet.write_table(pa.Table.from_pylist(new), path)
    elif suffix == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in new))
    else:
        rows = [",".join("" if cell is None else str(cell) for cell in record.values()) for record in new]
        path.write_text("\n".join([",".join(new[0]), *rows]) + "\n")
    code, out, _ = run(capsys, f"predict {model} {path} --costs")
    assert code == 0
    predict_pool(model, [path], costs=True)
    found = predictions(tmp_path)["part"].to_pylist()
    printed = json_lines(out)
    assert [(one["row"], one["id"], one["label"]) for one in found] == [
        (one["row"], one["id"], one["label"]) for one in printed
    ]
    for one, line in zip(found, printed, strict=True):
        assert {name: round(one[f"cost:{name}"], 6) for name in line["costs"]} == line["costs"]


def test_a_second_run_does_only_what_is_new_or_has_changed(pool, tmp_path):
    model, pattern, X = pool
    predict_pool(model, [pattern])
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "pool").glob("*.predictions.parquet")}
    assert predict_pool(model, [pattern]).finished_before == 4
    assert {path: path.stat().st_mtime_ns for path in written} == written
    part = tmp_path / "pool" / "part-001.parquet"
    os.utime(part, ns=(part.stat().st_atime_ns, part.stat().st_mtime_ns + 10**9))
    assert predict_pool(model, [pattern]).finished_before == 3
    assert predict_pool(model, [pattern], costs=True).finished_before == 0
    save_model(made_learner(seed=4), model)
    assert predict_pool(model, [pattern], costs=True).finished_before == 0
    labels = pa.concat_tables(predictions(tmp_path / "pool").values())["label"].to_pylist()
    assert labels == made_learner(seed=4).predict(X).tolist()


def test_an_interrupted_run_continues_and_leaves_no_half_written_file(pool, tmp_path):
    model, pattern, _ = pool

    def press(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_pool(model, [pattern], progress=press, workers=1)
    (tmp_path / "pool" / ".part-003.predictions.parquet.0123.part").write_text("half")
    outcome = predict_pool(model, [pattern], workers=1)
    assert 2 <= outcome.finished_before < 4
    assert len(predictions(tmp_path / "pool")) == 4
    assert not list((tmp_path / "pool").glob(".*"))


def test_a_damaged_result_is_made_again(pool, tmp_path):
    model, pattern, _ = pool
    predict_pool(model, [pattern])
    (tmp_path / "pool" / "part-002.predictions.parquet").write_bytes(b"PAR1 cut short")
    assert predict_pool(model, [pattern]).finished_before == 3


def test_results_lie_in_the_folder_of_out(pool, tmp_path):
    model, pattern, _ = pool
    predict_pool(model, [pattern], out=tmp_path / "new" / "folder")
    assert len(predictions(tmp_path / "new" / "folder")) == 4
    assert not predictions(tmp_path / "pool")


def test_a_model_without_names_takes_the_columns_in_their_order(tmp_path):
    learner, X = made_learner(), made_examples(20)
    NamedLearner(learner).save(tmp_path / "m.coal")
    pattern = write_parts(tmp_path / "pool", X, [], ids=list(range(20)))
    predict_pool(tmp_path / "m.coal", [pattern], ignore=["note"])
    assert predictions(tmp_path / "pool")["part-000"]["label"].to_pylist() == learner.predict(X).tolist()


def test_mistakes_are_one_line_that_names_the_file(pool, tmp_path):
    model, pattern, _ = pool
    with pytest.raises(FileFormatError, match=r"No file matches '.*lost-\*'\. Check the pattern, and put it in quotes"):
        predict_pool(model, [tmp_path / "lost-*"])
    with pytest.raises(FileFormatError, match=r"There is no file lost\.parquet"):
        predict_pool(model, ["lost.parquet"])
    with pytest.raises(FileFormatError, match="There is no model"):
        predict_pool(tmp_path / "lost.coal", [pattern])
    with pytest.raises(InputError, match="there is no column 'ticket' for the ids"):
        predict_pool(model, [pattern], id="ticket")
    other = tmp_path / "other.parquet"
    parquet.write_table(pa.table({"a": [1.0], "c": [1.0]}), other)
    with pytest.raises(InputError, match=r"other.parquet: the pool must have every column .*, missing 'b'"):
        predict_pool(model, [other])
    parquet.write_table(pa.table({name: pa.array([1.0, None]) for name in NAMES}), other)
    with pytest.raises(InputError, match=r"other.parquet"):
        predict_pool(model, [other])
    other.write_bytes(b"not parquet")
    with pytest.raises(FileFormatError, match="must be a Parquet file"):
        predict_pool(model, [other])
    (tmp_path / "examples.vw").write_text("1 | a")
    with pytest.raises(InputError, match=r"must be \.parquet, \.csv or \.jsonl, got .*examples\.vw"):
        predict_pool(model, [tmp_path / "examples.vw"])


def test_two_files_of_one_name_are_refused_before_any_work(pool, tmp_path):
    model, pattern, X = pool
    second = write_parts(tmp_path / "second", X, [])
    with pytest.raises(InputError, match="would both be written to"):
        predict_pool(model, [pattern, second], out=tmp_path / "out")
    assert not predictions(tmp_path / "out")


def test_a_file_that_always_loses_its_worker_ends_the_run_with_its_name(pool, monkeypatch):
    model, pattern, _ = pool

    def dies(*_, **__):
        raise RuntimeError("the worker died")

    monkeypatch.setattr("coalface.studies.pools.tasks.batches_of", dies)
    with pytest.raises(CoalfaceError, match=r"part-00\d.parquet failed 3 times: RuntimeError: the worker died"):
        predict_pool(model, [pattern], workers=1)


def test_an_empty_file_has_an_empty_result(pool, tmp_path):
    model, _, X = pool
    pattern = write_parts(tmp_path / "sparse", X, [0])
    predict_pool(model, [pattern])
    found = predictions(tmp_path / "sparse")
    assert [len(table) for table in found.values()] == [0, 50]
    assert found["part-000"].schema.equals(found["part-001"].schema)


def test_an_id_that_is_missing_is_one_line(tmp_path):
    model = save_model(made_learner(), tmp_path / "m.coal")
    pattern = write_parts(tmp_path / "pool", made_examples(3), [], ids=["x", " ", "z"])
    with pytest.raises(InputError, match="the id, in column 'id', is missing in row 1"):
        predict_pool(model, [pattern])
