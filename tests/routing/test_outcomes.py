"""Tables of outcomes in long form."""

import json

import numpy as np
import pytest

from coalface.errors import FileFormatError, InputError
from coalface.routing.outcomes import OutcomeColumns, Outcomes

LINES = [
    {"id": "1", "text": "2 + 2?", "model": "small", "loss": 0.25, "price": 0.5},
    {"id": "2", "text": "Prove it.", "model": "large", "loss": 0.0, "price": 3.0},
    {"id": "1", "text": "2 + 2?", "model": "large", "loss": 0.0, "price": 1.0},
]


def test_csv_json_lines_and_parquet_give_the_same_outcomes(tmp_path):
    from pyarrow import Table
    from pyarrow.parquet import write_table

    rows = [",".join(str(value) for value in line.values()) for line in LINES]
    (tmp_path / "o.csv").write_text("\n".join([",".join(LINES[0]), *rows]))
    (tmp_path / "o.jsonl").write_text("\n".join(json.dumps(line) for line in LINES))
    write_table(Table.from_pylist(LINES), tmp_path / "o.parquet")
    for name in ("o.csv", "o.jsonl", "o.parquet"):
        found = Outcomes.read(tmp_path / name)
        assert found.examples == [{"text": "2 + 2?"}, {"text": "Prove it."}]
        assert found.models.tolist() == ["large", "small"]
        np.testing.assert_array_equal(found.loss, [[0.0, 0.25], [0.0, np.nan]])
        np.testing.assert_array_equal(found.price, [[1.0, 0.5], [3.0, np.nan]])
        assert found.mean_prices() == {"large": 2.0, "small": 0.5}


def test_without_ids_equal_features_are_one_request_and_columns_can_have_other_names():
    lines = [{"words": line["text"], "who": line["model"], "cost": line["loss"], "day": 3} for line in LINES]
    found = Outcomes.of_lines(lines, OutcomeColumns(model="who", ignore=["day"]))
    assert found.examples == [{"words": "2 + 2?"}, {"words": "Prove it."}]
    assert not found.has_prices


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loss": 1.5}, "outcome 3: loss must be a number between 0 and 1, got 1.5"),
        ({"price": -1}, "outcome 3: price must be a number of at least 0, got -1"),
        ({"model": None}, "outcome 3: 'model' is missing"),
        ({"model": "small"}, "outcome 3: the request has an outcome of 'small' already"),
        ({"text": "3 + 3?"}, "outcome 3: 'text' differs from an earlier line of the same id"),
    ],
)
def test_a_bad_line_is_named(change, words):
    with pytest.raises(FileFormatError, match=words):
        Outcomes.of_lines([*LINES[:2], {**LINES[2], **change}])


def test_a_request_that_comes_twice_needs_ids():
    lines = [{"text": "2 + 2?", "model": "small", "loss": 0}] * 2
    with pytest.raises(FileFormatError, match="or give each request an id of its own in a column 'id'"):
        Outcomes.of_lines(lines)


def test_missing_columns_models_and_prices_are_named(tmp_path):
    with pytest.raises(FileFormatError, match=r"must have a column 'loss' or 'cost'.* a line per request and model"):
        Outcomes.of_lines([{"text": "a", "model": "b"}])
    with pytest.raises(FileFormatError, match="outcomes of at least two models, got \\['small'\\]"):
        Outcomes.of_lines(LINES[:1])
    with pytest.raises(FileFormatError, match="model 'large' is not one of"):
        Outcomes.of_lines(LINES, models=["small", "middle"])
    with pytest.raises(FileFormatError, match="at least one outcome"):
        Outcomes.of_lines([])
    with pytest.raises(InputError, match="price is not known for 'middle'"):
        Outcomes.of_lines(LINES, models=["small", "large", "middle"]).mean_prices()
    (tmp_path / "o.vw").touch()
    with pytest.raises(InputError, match="must be a table"):
        Outcomes.read(tmp_path / "o.vw")
