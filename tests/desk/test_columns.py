"""Columns of examples whose roles the user names."""

import json

import pytest

from coalface.desk.project.project import Project
from coalface.errors import FileFormatError, InputError

CALLS = [
    {"ticket": 7, "body": "my parcel is late", "note": "gold", "days": 3, "team": "post", "secret": "x"},
    {"ticket": 8, "body": "my money is gone", "note": "none", "days": 1, "team": "bank", "secret": "y"},
    {"ticket": 9, "body": "12", "note": "gold", "days": 2, "team": "post", "secret": "z"},
]
ROLES = {"text": ["body", "note"], "id": "ticket", "ignore": ["secret"], "label": "team"}


def written(folder, suffix):
    path = folder / f"calls{suffix}"
    if suffix == ".csv":
        lines = [",".join(CALLS[0]), *(",".join(map(str, call.values())) for call in CALLS)]
        path.write_text("\n".join(lines) + "\n")
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(call) + "\n" for call in CALLS))
    else:
        pytest.importorskip("pyarrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(CALLS), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", "memory"])
def test_named_columns_mean_the_same_in_every_format(tmp_path, suffix):
    source = (call for call in CALLS) if suffix == "memory" else written(tmp_path, suffix)
    pool = (project := Project.create(tmp_path / "calls", source, **ROLES)).pool
    assert project.labels == ["bank", "post"]
    assert [pool.example_id(place) for place in range(3)] == ["7", "8", "9"]
    assert pool.content(0) == {"kind": "text", "text": "my parcel is late", "cells": {"note": "gold", "days": 3}}
    assert pool.content(2)["text"] == "12"  # a text stays one
    kinds = {column.name: column.kind for column in pool.encoder.columns}
    assert kinds == {"body": "text", "note": "text", "days": "number"}


def test_new_examples_are_given_by_the_names_of_the_columns(tmp_path):
    project = Project.create(tmp_path / "calls", CALLS, **ROLES)
    again = {name: CALLS[0][name] for name in ("body", "note", "days")}
    rows = project.pool.rows_of([{"id": "7"}, again, {"ticket": 7, "team": "post", **again}]).toarray()
    assert (rows == rows[0]).all()
    assert rows[0].any()
    with pytest.raises(InputError, match=r"must have the fields of the project's examples, 'body', 'days', 'note'"):
        project.pool.rows_of([{**again, "text": "my parcel is late"}])
    with pytest.raises(InputError, match="must have the fields"):
        project.pool.rows_of([{"note": "gold", "days": 3}])


def test_the_column_of_labels_is_left_out_also_beside_given_labels(tmp_path):
    project = Project.create(tmp_path / "calls", CALLS, ["post", "bank", "shop"], label="team", text=["body"])
    assert project.labels == ["post", "bank", "shop"]
    assert "team" not in project.pool.content(0)["cells"]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"id": "nr"}, r"no column 'nr'. The columns are 'ticket', 'body'"),
        ({"text": ["body"], "ignore": ["body"]}, r"must have one role, got 'body' twice"),
        ({"label": None}, r"labels must be given, or label, a column"),
    ],
)
def test_a_column_that_is_not_there_or_named_twice_is_refused(tmp_path, roles, message):
    with pytest.raises(InputError, match=message):
        Project.create(tmp_path / "calls", written(tmp_path, ".csv"), **{"label": "team", **roles})
    assert not (tmp_path / "calls").exists()


def test_images_have_no_columns(tmp_path):
    (tmp_path / "photos").mkdir()
    with pytest.raises(InputError, match="Images have no column 'body'"):
        Project.create(tmp_path / "pets", tmp_path / "photos", ["cat", "dog"], text=["body"])


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "calls.csv").write_text("id,text,text\n1,a,b\n")
    with pytest.raises(FileFormatError, match="columns must have distinct names, got 'text'"):
        Project.create(tmp_path / "calls", tmp_path / "calls.csv", ["a", "b"])
