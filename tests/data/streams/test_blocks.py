"""A file in blocks has the same examples as the whole file, whatever its format and compression."""

import csv
import io
import sys
from itertools import islice

import numpy as np
import pytest
from scipy.sparse import vstack

from coalface import read_blocks, read_dataset
from coalface.data.alignment import Aligner
from coalface.data.streams.blocks import open_blocks
from coalface.data.streams.line_source import LineSource
from coalface.errors import FileFormatError, InputError
from tests.data.streams.files import LABELS, csv_text, jsonl_text, numbered_text, packed, raw_records, vw_text

pytestmark = pytest.mark.filterwarnings("ignore:.*one label per line and no costs")


def raw_csv(n_rows=230, most=None):
    text = io.StringIO()
    writer = csv.DictWriter(text, ["id", "message", "channel", "amount", "kind"])
    writer.writeheader()
    writer.writerows(islice(raw_records(n_rows), most))
    return text.getvalue()


FILES = {
    "named.vw": (vw_text, {}),
    "numbered.vw": (numbered_text, {}),
    "hashed.vw": (vw_text, {"features": "hashed", "bits": 10}),
    "grams.vw": (vw_text, {"ngrams": 2}),
    "numbers.csv": (csv_text, {"label": "kind"}),
}
RAW = {"raw.csv": raw_csv, "raw.jsonl": jsonl_text}


def assert_same_rows(X, whole):
    assert X.shape == whole.shape  # texts have many columns, nearly all of them empty
    assert (whole != X).nnz == 0


def stacked(blocks):
    """All blocks as one: rows widened to the last block, costs, candidates (None: all), ids."""
    blocks = list(blocks)
    width = blocks[-1].X.shape[1]
    for block in blocks:
        block.X.resize((len(block), width))
    everything = [np.ones_like(b.cost, bool) if b.candidates is None else b.candidates for b in blocks]
    X = vstack([block.X for block in blocks], format="csr")
    return X, np.concatenate([block.cost for block in blocks]), np.concatenate(everything)


@pytest.mark.parametrize("packing", ["", "gz", "zst"])
@pytest.mark.parametrize("name", FILES)
def test_blocks_together_are_the_whole_file(tmp_path, name, packing):
    make, options = FILES[name]
    path = tmp_path / (f"{name}.{packing}" if packing else name)
    path.write_bytes(packed(make(), packing))
    whole = read_dataset(path, **options)
    blocks = list(read_blocks(path, rows=64, **options))
    assert [len(block) for block in blocks] == [64, 64, 64, 38]
    X, cost, candidates = stacked(blocks)
    names = blocks[-1].feature_names
    order = slice(None) if names is None else [names.index(one) for one in whole.feature_names]
    assert_same_rows(X[:, order], whole.X)
    np.testing.assert_array_equal(cost, whole.cost)
    np.testing.assert_array_equal(
        candidates, np.ones_like(candidates) if whole.candidates is None else whole.candidates
    )
    assert all(block.classes.tolist() == whole.classes.tolist() for block in blocks)
    if name != "grams.vw":
        assert names == whole.feature_names  # in the order of their first appearance


@pytest.mark.parametrize("packing", ["", "gz", "zst"])
@pytest.mark.parametrize("name", RAW)
def test_the_first_block_decides_how_columns_are_encoded(tmp_path, name, packing):
    text = RAW[name]()
    path = tmp_path / (f"{name}.{packing}" if packing else name)
    path.write_bytes(packed(text, packing))
    blocks = list(read_blocks(path, rows=64, label="kind"))
    encoder = blocks[0].encoder
    whole = read_dataset(path, label="kind", encoder=encoder)
    X, cost, _ = stacked(blocks)
    assert_same_rows(X, whole.X)
    np.testing.assert_array_equal(cost, whole.cost)
    assert np.concatenate([block.ids for block in blocks]).tolist() == whole.ids.tolist()
    assert [one for block in blocks for one in block.records] == list(whole.records)
    head = tmp_path / f"head{path.suffixes[0]}"
    first = raw_csv(most=64) if name == "raw.csv" else "".join(text.splitlines(keepends=True)[:64])
    head.write_text(first)
    assert encoder.plain() == read_dataset(head, label="kind").encoder.plain()


def test_parquet_in_blocks_is_the_whole_file(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "raw.parquet"
    parquet.write_table(pa.Table.from_pylist(list(raw_records())), path, row_group_size=50)
    blocks = list(read_blocks(path, rows=64, label="kind"))
    whole = read_dataset(path, label="kind", encoder=blocks[0].encoder)
    X, cost, _ = stacked(blocks)
    assert_same_rows(X, whole.X)
    np.testing.assert_array_equal(cost, whole.cost)


def test_a_folder_in_blocks_is_the_whole_folder(tmp_path):
    (tmp_path / "numbers.csv").write_text(csv_text())
    whole = read_dataset(tmp_path / "numbers.csv", label="kind")
    whole.save(tmp_path / "numbers")
    X, cost, _ = stacked(read_blocks(tmp_path / "numbers", rows=64))
    assert_same_rows(X, whole.X)
    np.testing.assert_array_equal(cost, whole.cost)


@pytest.mark.parametrize("packing", ["", "gz", "zst"])
def test_standard_input_is_read_like_a_file(tmp_path, monkeypatch, packing):
    stdin = io.TextIOWrapper(io.BytesIO(packed(vw_text(), packing)))
    monkeypatch.setattr(sys, "stdin", stdin)
    (tmp_path / "a.vw").write_text(vw_text())
    found, wanted = stacked(read_blocks("-", "vw", rows=100)), stacked(read_blocks(tmp_path / "a.vw", rows=100))
    assert_same_rows(found[0], wanted[0])
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(found[1:], wanted[1:], strict=True))
    with pytest.raises(InputError, match="Standard input must be one of vw, csv, jsonl, got format 'auto'"):
        next(read_blocks("-"))


@pytest.mark.parametrize(
    ("name", "text", "options", "place"),
    [
        ("a.vw", "cat:0 dog:1 | a\n\n" * 4 + "cat:0 cow:1 | a\n", {}, "line 9"),
        ("a.csv", "x,kind\n" + "1,cat\n\n2,dog\n" * 2 + "3,cow\n", {"label": "kind"}, "line 8"),
        (
            "a.jsonl",
            '{"x": 1, "kind": "cat"}\n{"x": 2, "kind": "dog"}\n{"x": 2, "kind": "cow"}\n',
            {"label": "kind"},
            "line 3",
        ),
    ],
)
def test_a_label_that_the_first_block_lacks_is_an_error_with_a_remedy(tmp_path, name, text, options, place):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileFormatError, match=f"{place}: labels must be among 'cat', 'dog', got 'cow'") as error:
        list(read_blocks(path, rows=2, **options))
    assert "pass classes with all labels" in str(error.value)
    assert error.value.remedy == {"classes": None}
    blocks = list(read_blocks(path, rows=2, classes=["cat", "dog", "cow"], **options))
    assert all(block.classes.tolist() == ["cat", "dog", "cow"] for block in blocks)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "x,kind\n1,cat\n2,dog\n,cat\n"),
        ("a.jsonl", '{"x":1,"kind":"cat"}\n{"x":2,"kind":"dog"}\n{"kind":"cat"}\n'),
    ],
)
def test_a_gap_after_numbers_says_that_the_first_rows_decide(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"column 'x'.* The first rows were numbers without gaps"):
        list(read_blocks(path, rows=2, label="kind"))
    assert next(read_blocks(path, rows=3, label="kind")).encoder is not None


def test_a_record_may_lack_columns_that_a_block_does_not_have_at_all(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = ['{"t": "a b", "n": 1, "note": 1, "kind": "cat"}', '{"t": "c", "kind": "dog"}', '{"t": "b", "kind": "dog"}']
    path.write_text("\n".join(lines))
    blocks = list(read_blocks(path, rows=2, label="kind", ignore=["note"], text=["t"]))
    whole = read_dataset(path, label="kind", ignore=["note"], encoder=blocks[0].encoder)
    assert_same_rows(stacked(blocks)[0][:, :4], whole.X[:, :4])


@pytest.mark.parametrize(
    ("name", "rule"), [("a.vw", 'features="numbered"'), ("b.vw", "every line must have one label")]
)
def test_what_the_first_lines_decide_holds_for_all(tmp_path, name, rule):
    later = {"a.vw": "1:0 2:1 | word\n", "b.vw": "1:0 2:1 | 3\n"}[name]
    first = {"a.vw": "1:0 2:1 | 1\n1:1 2:0 | 2\n", "b.vw": "1 | 1\n2 | 2\n"}[name]
    path = tmp_path / name
    path.write_text(first + later)
    with pytest.raises(FileFormatError, match=rule):
        list(read_blocks(path, rows=2))


@pytest.mark.parametrize("packing", ["gz", "zst"])
@pytest.mark.parametrize(("make", "name"), [(vw_text, "a.vw"), (csv_text, "a.csv"), (jsonl_text, "a.jsonl")])
def test_a_truncated_file_is_an_error_after_the_whole_blocks(tmp_path, make, name, packing):
    path = tmp_path / f"{name}.{packing}"
    path.write_bytes(packed(make(), packing)[:-20])
    options = {} if make is vw_text else {"label": "kind"}
    with pytest.raises(FileFormatError, match="truncated or damaged") as caught:
        list(read_blocks(path, rows=20, **options))
    assert "line 0" not in str(caught.value)
    with pytest.raises(FileFormatError, match="truncated"):
        read_dataset(path, **options)


@pytest.mark.parametrize("name", ["a.vw", "a.csv", "a.jsonl"])
def test_an_empty_file_is_an_error(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(FileFormatError, match=r"must hold at least one example|must begin with a line"):
        list(read_blocks(tmp_path / name, classes=LABELS))


@pytest.mark.parametrize(
    ("make", "name"), [(vw_text, "a.vw"), (csv_text, "a.csv"), (jsonl_text, "a.jsonl"), (raw_csv, "b.csv")]
)
def test_a_stream_goes_on_after_a_position(tmp_path, make, name):
    path = tmp_path / name
    path.write_text(make())
    options = {} if make is vw_text else {"label": "kind"}
    with open_blocks(path, "auto", options, rows=50, checksums=True) as blocks:
        firsts = [next(iter(blocks)), next(iter(blocks))]
        position = blocks.position()
        rest = list(blocks)
    known = {"classes": firsts[0].classes} | ({"encoder": firsts[0].encoder} if firsts[0].encoder else {})
    own = {"feature_names": firsts[1].feature_names, "width": firsts[1].X.shape[1], "encoder": firsts[1].encoder}
    with open_blocks(path, "auto", options | known, rows=50, after=position) as blocks:
        aligner = Aligner(path, blocks.sparse, **own, grows=True)  # as a learner of the first blocks has it
        again = [aligner.aligned(block) for block in blocks]
    assert position.rows == 100
    assert [one.fingerprint for one in again] == [one.fingerprint for one in rest]
    path.write_text(make().replace("0", "1", 1))
    with pytest.raises(InputError, match="must begin with the 100 examples that the model has learned, got another"):
        open_blocks(path, "auto", options | known, rows=50, after=position)


def test_lines_are_counted_alike_one_by_one_and_together(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\ntwo\n\nfour")
    with LineSource(path, checksums=True) as alone, LineSource(path, checksums=True) as together:
        assert list(alone.texts()) == ["one\n", "two\n", "\n", "four"]
        together.take(10)
        assert (alone.n_lines, alone.n_bytes, alone.checksum) == (4, together.n_bytes, together.checksum)
        assert together.n_lines == 4
        assert alone.progress == (path.stat().st_size, path.stat().st_size)
