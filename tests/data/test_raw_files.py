"""CSV, JSON lines and Parquet with texts, gaps and ids are datasets, all alike."""

import json
from inspect import signature

import numpy as np
import pytest

from coalface import CostDataset, Encoder, read_blocks, read_dataset
from coalface.data.formats.csv_table import read_csv
from coalface.data.formats.records import read_jsonl, read_parquet
from coalface.errors import FileFormatError, InputError

ROWS = [
    {"id": "a", "text": "my parcel is lost", "days": "3", "paid": None, "team": "post"},
    {"id": "b", "text": "I want my money back", "days": "12", "paid": "9.5", "team": "money"},
    {"id": "c", "text": "where is the parcel now", "days": "5", "paid": "1", "team": "post"},
]


@pytest.fixture
def paths(tmp_path):
    """The same table in every format."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    lines = [",".join(ROWS[0]), *(",".join(value or "" for value in row.values()) for row in ROWS)]
    (tmp_path / "calls.csv").write_text("\n".join(lines) + "\n")
    typed = [{**row, "days": int(row["days"]), "paid": row["paid"] and float(row["paid"])} for row in ROWS]
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in typed))
    parquet.write_table(arrow.Table.from_pylist(typed), tmp_path / "calls.parquet")
    return [tmp_path / f"calls{suffix}" for suffix in (".csv", ".jsonl", ".parquet")]


def test_the_formats_are_the_same_dataset(paths):
    datasets = [read_dataset(path, label="team") for path in paths]
    for dataset in datasets:
        assert dataset.fingerprint == datasets[0].fingerprint
        assert dataset.ids.tolist() == ["a", "b", "c"]
        assert [column.kind for column in dataset.encoder.columns] == ["text", "number", "number"]
        assert dataset.encoder.plain() == datasets[0].encoder.plain()
        assert dataset.records[0]["text"] == "my parcel is lost"
        assert "team" not in dataset.records[0]
        assert (dataset.encoder.transform(list(dataset.records)) != dataset.X).nnz == 0


def test_a_fitted_encoder_is_used_again_and_leaves_the_label_out(paths):
    first = read_dataset(paths[0], label="team")
    again = read_dataset(paths[1], encoder=first.encoder, classes=first.classes)
    assert again.encoder is first.encoder
    assert (again.X != first.X).nnz == 0
    assert np.isnan(again.cost).all()


def test_a_subset_has_its_ids_and_records(paths):
    part = read_dataset(paths[0], label="team").subset([2, 0])
    assert part.ids.tolist() == ["c", "a"]
    assert [record["days"] for record in part.records] == ["5", "3"]


def test_a_folder_keeps_the_encoder_and_the_ids(paths, tmp_path):
    dataset = read_dataset(paths[0], label="team")
    dataset.save(tmp_path / "calls")
    again = CostDataset.open(tmp_path / "calls", verify=True)
    assert again.encoder.plain() == dataset.encoder.plain()
    assert again.ids.tolist() == dataset.ids.tolist()


def test_options_choose_texts_ids_and_columns_to_leave_out(paths):
    for path in paths:
        dataset = read_dataset(path, label="team", id="days", ignore=["paid"], text=["text"])
        assert dataset.ids.tolist() == ["3", "12", "5"]
        assert list(dataset.encoder.groups) == ["text"]


def test_costs_by_label_come_with_texts(tmp_path):
    (tmp_path / "calls.csv").write_text("note,cost:post,cost:money\nmy parcel is lost,0,\nI want my money,1,0.5\n")
    dataset = read_dataset(tmp_path / "calls.csv")
    assert dataset.cost.tolist()[1] == [1.0, 0.5]
    assert np.isnan(dataset.cost[0, 1])
    assert list(dataset.encoder.groups) == ["note"]


def test_numbers_without_gaps_stay_as_they_are_in_every_format(tmp_path):
    (tmp_path / "n.csv").write_text("size,loud,kind\n3,0.5,a\n1e3,-2,b\n")
    (tmp_path / "n.jsonl").write_text('{"size": 3, "loud": 0.5, "kind": "a"}\n{"size": 1e3, "loud": -2, "kind": "b"}\n')
    for name in ("n.csv", "n.jsonl"):
        dataset = read_dataset(tmp_path / name, label="kind")
        assert dataset.encoder is None
        assert dataset.feature_names == ("size", "loud")
        assert dataset.X.toarray().tolist() == [[3.0, 0.5], [1000.0, -2.0]]
    numbered = read_dataset(tmp_path / "n.csv", label="kind", id="size")
    assert numbered.ids.tolist() == ["3", "1e3"]
    assert numbered.feature_names == ("loud",)


BAD = {
    "a column that is not there": (
        "note,kind\nhello you,a\n",
        {"label": "kind", "text": ["title"]},
        "no column 'title'",
    ),
    "no label": ("note,kind\n\nhello you,\n", {"label": "kind"}, "line 3: the label, in column 'kind', is missing"),
    "no id": ("id,note,kind\n,hello you,a\n", {"label": "kind"}, "line 2: the id, in column 'id', is missing"),
    "a bad cost": (
        "note,cost:a\nhello you,1\n\nhello,TIMEOUT\n",
        {},
        "line 4, column 'cost:a': a cost must be a finite number, got 'TIMEOUT'. Write the limit for a run that timed",
    ),
    "no costs": ("note,kind\nhello you,a\n", {}, "to name the column of the true label"),
    "one word among numbers": ("n,kind\n" + "1,a\n" * 30 + "O,b\n", {"label": "kind"}, "line 32: .* got 'O'. Correct"),
    "infinity": ("n,kind\ninf,a\n", {"label": "kind"}, "line 2, column .n.: a cell must be a finite number, got .inf."),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables_are_refused(name, tmp_path):
    content, options, words = BAD[name]
    (tmp_path / "calls.csv").write_text(content)
    with pytest.raises(FileFormatError, match=words) as caught:
        read_dataset(tmp_path / "calls.csv", **options)
    assert "calls.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b"{]\n", "a.jsonl, line 1: must be a JSON object"),
        ("a.jsonl", b'{"text": "x"}\n[1]\n', "a.jsonl, line 2: must be a JSON object"),
        ("a.jsonl", b"\xff\n", "a.jsonl, line 1: text must be UTF-8"),
        ("a.jsonl", b"\n", "must hold at least one example"),
        ("a.parquet", b"PAR0", "a.parquet must be a Parquet file"),
    ],
)
def test_broken_files_are_refused(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=words):
        read_dataset(tmp_path / name, label="team")


def test_an_encoder_must_be_one(paths):
    with pytest.raises(InputError, match="encoder must be an Encoder"):
        read_dataset(paths[0], label="team", encoder="auto")
    assert read_dataset(paths[0], label="team", encoder=Encoder(pairs=True)).encoder.pairs


def test_a_field_that_an_object_has_twice_is_refused_with_its_line(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_text('{"text": "a b", "team": "x"}\n\n{"text": "c d", "team": "x", "team": "y"}\n')
    with pytest.raises(FileFormatError, match=r"line 3: must be a JSON object \(its fields must have distinct names, "):
        read_dataset(path, label="team")
    with pytest.raises(FileFormatError, match=r"line 3: .* got 'team' twice"):
        list(read_blocks(path, label="team"))


def test_a_missing_label_in_json_lines_is_named_by_its_line(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_text('{"text": "a b", "team": "x"}\n\n{"text": "c d", "team": null}\n')
    for read in (read_dataset, lambda *args, **options: list(read_blocks(*args, **options))):
        with pytest.raises(FileFormatError, match=r"line 3: the label, in column 'team', is missing"):
            read(path, label="team")


def test_a_bad_cell_in_json_lines_is_named_by_its_line(tmp_path):
    path = tmp_path / "calls.jsonl"
    lines = [{"text": "a b", "size": place, "team": "x"} for place in range(12)]
    bad = {
        "a word": {**lines[0], "size": "big"},
        "a list": {**lines[0], "size": [1]},
        "a gap": {"size": 1, "team": "x"},
    }
    encoder = read_dataset(_written(path, lines), label="team").encoder
    for name, line in bad.items():
        _written(path, [*lines[:2], line])
        with pytest.raises(FileFormatError, match=r"calls.jsonl(, |: .*)line 4") as caught:
            read_dataset(path, label="team", encoder=encoder)
        assert "row 2" not in str(caught.value), name


def _written(path, lines):
    """The file with an empty line in second place."""
    path.write_text("\n".join([json.dumps(lines[0]), "", *map(json.dumps, lines[1:])]) + "\n")
    return path


@pytest.mark.parametrize("reader", [read_csv, read_jsonl, read_parquet])
def test_the_signature_of_a_reader_names_its_keywords(reader):
    names = list(signature(reader).parameters)
    assert names[0] == "path"
    table = ["label", "cost_matrix", "classes", "ignore", "text", "id", "encoder", "embed", "name"]
    assert names[1:] == table + ["separator", "decimal", "encoding"] * (reader is read_csv)
    assert signature(reader).parameters["ignore"].default == ()
