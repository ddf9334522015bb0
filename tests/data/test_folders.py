import json
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings

from coalface.data import CostDataset
from coalface.data.formats.array_folder import is_dataset_folder
from coalface.errors import FileFormatError, InputError
from tests.data.strategies import assert_same, datasets, label_words, words


@pytest.fixture
def saved(tmp_path):
    CostDataset.from_labels(np.eye(4), list("abca"), feature_names=list("wxyz"), name="four").save(tmp_path / "four")
    return tmp_path / "four"


@settings(deadline=None, max_examples=30)
@given(datasets(labels=label_words, features=words, candidates=True))
def test_saving_and_opening_gives_the_same_dataset(dataset):
    with TemporaryDirectory() as folder:
        dataset.save(f"{folder}/kept")
        opened = CostDataset.open(f"{folder}/kept", verify=True)
        assert_same(opened, dataset)
        np.testing.assert_array_equal(opened.candidates, dataset.candidates)
        again = CostDataset(opened.X, opened.cost, opened.classes, candidates=opened.candidates)
        assert again.fingerprint == opened.fingerprint


@pytest.mark.parametrize("classes", [["a", "b"], [3, 1], [0.5, 1.5], [False, True]])
def test_labels_keep_their_type(tmp_path, classes):
    CostDataset(np.eye(2), np.eye(2), classes).save(tmp_path / "kept")
    opened = CostDataset.open(tmp_path / "kept").classes
    assert opened.tolist() == classes
    assert opened.dtype.kind == np.array(classes).dtype.kind


def test_opened_arrays_are_maps_of_the_files_and_the_matrix_works(saved):
    X = CostDataset.open(saved).X
    assert all(isinstance(part, np.memmap) for part in (X.data, X.indices, X.indptr))
    np.testing.assert_array_equal((X @ np.arange(4.0)), np.arange(4.0))
    np.testing.assert_array_equal(X[[2, 0]].toarray(), np.eye(4)[[2, 0]])


def test_changing_opened_arrays_changes_no_file(saved):
    X = CostDataset.open(saved).X
    assert X.data.flags.writeable  # kernels would be compiled again for read-only arrays
    X.data[:] = 7.0
    np.testing.assert_array_equal(CostDataset.open(saved).X.toarray(), np.eye(4))


def test_compact_costs_stay_compact_on_disk(saved):
    opened = CostDataset.open(saved)
    assert opened.table is None
    assert opened.name == "four"
    assert opened.cost.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]]


def test_a_dataset_without_any_feature_value_can_be_saved(tmp_path):
    CostDataset(np.zeros((2, 3)), np.zeros((2, 2))).save(tmp_path / "zeros")
    assert CostDataset.open(tmp_path / "zeros", verify=True).X.nnz == 0


def test_saving_replaces_a_dataset_but_nothing_else(saved, tmp_path):
    fresh = CostDataset([[1.0]], [[0.0]])
    fresh.save(saved)
    assert_same(CostDataset.open(saved), fresh)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"meow")
    with pytest.raises(InputError, match="photos is not a dataset"):
        fresh.save(tmp_path / "photos")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["four", "photos"]


def test_a_failed_save_leaves_the_old_dataset_and_no_other_files(saved, tmp_path, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError("disk full")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="disk full"):
        CostDataset([[1.0]], [[0.0]]).save(saved)
    assert len(CostDataset.open(saved, verify=True)) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["four"]


def edit_meta(folder, **changes):
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, **changes}))


def cut(path, n_bytes):
    path.write_bytes(path.read_bytes()[:n_bytes])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: cut(folder / "X_data.npy", 100), "100 bytes in X_data.npy"),
        (lambda folder: (folder / "truth.npy").unlink(), "lacks the file truth.npy"),
        (lambda folder: cut(folder / "meta.json", 30), "damaged meta.json"),
        (lambda folder: (folder / "meta.json").unlink(), "has no meta.json"),
        (lambda folder: (folder / "meta.json").write_text("[1]"), "not a dataset by its meta.json"),
        (lambda folder: edit_meta(folder, version=2), "has version 2, but this coalface reads 1. Upgrade coalface"),
        (lambda folder: edit_meta(folder, format="photos"), "is not a dataset"),
        (lambda folder: edit_meta(folder, shape=[4, 4]), "incomplete meta.json"),
        (lambda folder: edit_meta(folder, shape=[5, 4, 3]), r"shape \(5,\) in X_indptr.npy"),
        (lambda folder: edit_meta(folder, files={}), "does not list X_data.npy"),
    ],
)
def test_a_damaged_folder_is_one_clear_line(saved, damage, words):
    damage(saved)
    with pytest.raises(FileFormatError, match=words) as caught:
        CostDataset.open(saved)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "place"), [("X_data.npy", -1), ("X_indptr.npy", -3), ("classes.npy", -2)])
def test_a_flipped_byte_is_found_when_verifying(saved, name, place):
    content = bytearray((saved / name).read_bytes())
    content[place] ^= 1
    (saved / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=name):
        CostDataset.open(saved, verify=True)


def test_a_pickled_array_is_never_loaded(saved):
    np.save(saved / "classes.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    size = (saved / "classes.npy").stat().st_size
    meta = json.loads((saved / "meta.json").read_text())
    meta["files"]["classes.npy"]["bytes"] = size
    (saved / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(FileFormatError, match=r"unreadable classes.npy"):
        CostDataset.open(saved)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="There is no dataset folder"):
        CostDataset.open(tmp_path / "nowhere")
    assert not is_dataset_folder(tmp_path)
