"""Projects encode raw examples as learners do."""

from types import SimpleNamespace

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.desk.project.features import encoded, new_encoder
from coalface.desk.project.project import Project

RECORDS = [
    {"id": f"t{n}", "text": f"where is item {n}", "days": n % 7, "channel": ["mail", "chat"][n % 2]} for n in range(60)
]


@pytest.fixture
def project(tmp_path):
    return Project.create(tmp_path / "p", RECORDS, ["post", "money"])


def test_the_pool_has_the_rows_that_its_encoder_makes_of_raw_examples(project):
    encoder = project.pool.encoder
    assert [column.kind for column in encoder.columns] == ["text", "number", "category"]
    expected = encoder.transform([{name: cell for name, cell in record.items() if name != "id"} for record in RECORDS])
    assert (project.pool.rows(np.arange(60)) != expected).nnz == 0
    assert (project.pool.rows_of(RECORDS[:3]) != expected[:3]).nnz == 0
    assert project.pool.width == encoder.width


def test_an_example_to_be_predicted_may_lack_fields_and_have_cells_that_do_not_suit(project):
    rows = project.pool.rows_of([{"text": "hello", "days": "soon"}])
    start, end = project.pool.encoder.groups["days"]
    assert rows[:, start:end].nnz == 0
    assert rows.shape[1] == project.pool.width


def test_the_order_of_the_pool_decides_who_decides_not_the_order_of_the_file(tmp_path):
    sorted_records = [{"id": n, "team": f"team {n // 1000}"} for n in range(5000)]
    pool = Project.create(tmp_path / "p", sorted_records, ["post", "money"]).pool
    assert pool.encoder.columns[0].values == ("team 0", "team 1", "team 2", "team 3", "team 4")


def test_a_word_among_numbers_makes_a_column_of_texts():
    contents = [{"kind": "table", "cells": {"size": n}} for n in range(30)] + [
        {"kind": "table", "cells": {"size": "L"}}
    ]
    encoder = new_encoder(contents)
    assert encoder.columns[0].kind == "text"
    assert encoded(encoder, contents).shape[0] == 31


def test_examples_without_content_have_empty_rows(tmp_path):
    pool = Project.create(tmp_path / "p", [{"id": 1}, {"id": 2}], ["post", "money"]).pool
    assert pool.encoder is None
    assert pool.rows(np.arange(2)).nnz == 0


def test_an_exported_model_takes_raw_examples(project, tmp_path):
    from coalface.desk.service.exports import export

    learner = project.new_learner().begin()
    learner.tell(project.pool.rows(np.arange(60)), np.tile([[0.0, 1.0]], (60, 1)))
    log = SimpleNamespace(read=lambda **_: [])  # of a project in which no label has changed
    (tmp_path / "model").write_bytes(b"".join(export(project, log, lambda: learner, "model")))
    again = CoalClassifier.load(tmp_path / "model")
    rows = project.pool.rows(np.arange(60))
    raw = [{name: cell for name, cell in record.items() if name != "id"} for record in RECORDS]
    np.testing.assert_array_equal(again.predict_cost(raw), learner.predict_cost(rows))
    assert not hasattr(learner, "encoder_")
