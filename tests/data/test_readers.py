import gzip
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import dump_svmlight_file

from coalface.data import CostDataset, read_dataset, write_dataset
from coalface.data.formats.npz import read_npz, write_npz
from coalface.errors import FileFormatError, InputError
from tests.data.strategies import assert_same, datasets, label_words, words

X = np.array([[1.0, 0.0, 2.5], [0.0, 3.0, 0.0]])


@settings(deadline=None, max_examples=30)
@given(datasets(labels=label_words, features=words, candidates=True))
def test_an_archive_survives_writing_and_reading(dataset):
    with TemporaryDirectory() as folder:
        write_npz(dataset, f"{folder}/a.npz")
        back = read_npz(f"{folder}/a.npz")
    assert_same(back, dataset)
    np.testing.assert_array_equal(back.candidates, dataset.candidates)


def test_a_compact_dataset_stays_compact_in_an_archive(tmp_path):
    dataset = CostDataset.from_labels(X, ["b", "a"], cost_matrix=[[0, 2], [3, 0]], classes=["b", "a"])
    write_npz(dataset, tmp_path / "a.npz")
    back = read_npz(tmp_path / "a.npz")
    assert back.table is None
    assert_same(back, dataset)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": X}, r"must hold cost or y, got \['X'\]"),
        ({"y": np.arange(2)}, "must hold X, or all of X_data"),
        ({"X": X, "cost": np.zeros(3)}, r"cost must have the shape"),
        ({"X": X, "y": np.array([None, {}], dtype=object)}, "must be a NumPy archive of plain arrays"),
        (
            {"X_data": np.ones(1), "X_indices": [9], "X_indptr": [0, 1], "X_shape": [1, 2], "y": [0]},
            "X must be a CSR matrix",
        ),
    ],
)
def test_a_bad_archive_is_named(tmp_path, arrays, words):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FileFormatError, match=words):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("n_bytes", [0, 10, 300])
def test_a_truncated_archive_is_an_error(tmp_path, n_bytes):
    np.savez(tmp_path / "a.npz", X=X, y=np.arange(2))
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content[:n_bytes])
    with pytest.raises(FileFormatError, match="must be a NumPy archive"):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.svm", "a.svmlight", "a.libsvm", "a.svm.gz"])
def test_svmlight_files_get_their_costs_from_the_matrix(tmp_path, name):
    dump_svmlight_file(X, [7, 3], str(tmp_path / "plain"), zero_based=False)
    content = (tmp_path / "plain").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    dataset = read_dataset(tmp_path / name, cost_matrix=[[0, 2], [5, 0]])
    assert_same(dataset, CostDataset(X, [[5, 0], [0, 2]], [3, 7]))
    assert read_dataset(tmp_path / name).cost.tolist() == [[1, 0], [0, 1]]


def test_the_names_of_a_cost_matrix_may_be_numbers(tmp_path):
    dump_svmlight_file(X, [7, 3], str(tmp_path / "a.svm"), zero_based=False)
    (tmp_path / "m.csv").write_text(",7,3\n3,2,0\n7,0,5\n")
    assert_same(
        read_dataset(tmp_path / "a.svm", cost_matrix=tmp_path / "m.csv"), CostDataset(X, [[5, 0], [0, 2]], [3, 7])
    )
    turned = read_dataset(tmp_path / "a.svm", cost_matrix=tmp_path / "m.csv", classes=[7, 3])
    assert turned.cost.tolist() == [[0, 5], [2, 0]]
    assert_same(read_dataset(tmp_path / "a.svm", cost_matrix=tmp_path / "m.csv", classes=["7", "3"]), turned)
    with pytest.raises(InputError, match=r"must be numbers, got .*'dog'.*Write them as in the file"):
        read_dataset(tmp_path / "a.svm", classes=["7", "dog"])
    (tmp_path / "m.csv").write_text(",7,4\n3,2,0\n7,0,5\n")
    with pytest.raises(FileFormatError, match=r"has a column named '4', which is not a label.+The labels are '3', '7'"):
        read_dataset(tmp_path / "a.svm", cost_matrix=tmp_path / "m.csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1 a:b\n", "must be an svmlight file"),
        ("", "must hold at least one example"),
        ("nan 1:1\n", "finite numbers"),
        ("1 1:nan\n", "finite numbers"),
    ],
)
def test_a_bad_svmlight_file_is_one_clear_line(tmp_path, content, words):
    (tmp_path / "a.svm").write_text(content)
    with pytest.raises(FileFormatError, match=words) as caught:
        read_dataset(tmp_path / "a.svm")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.vw", "a.vw.gz", "a.txt", "a.dat", "a.csv", "a.csv.gz", "a.npz", "folder"])
def test_the_suffix_chooses_the_format(tmp_path, name):
    dataset = CostDataset(X, [[0.5, 1], [1, 0]], [1, 2], feature_names=["u", "v", "w"])
    write_dataset(dataset, tmp_path / name)
    back = read_dataset(tmp_path / name)
    assert back.classes.tolist() == [1, 2]
    np.testing.assert_array_equal(back.cost, dataset.cost)
    order = [back.feature_names.index(feature) for feature in dataset.feature_names]
    np.testing.assert_array_equal(back.X.toarray()[:, order], X)


def test_the_format_can_be_given(tmp_path):
    write_dataset(CostDataset(X, X), tmp_path / "odd.name", format="npz")
    assert len(read_dataset(tmp_path / "odd.name", format="npz")) == 2


def test_unreadable_and_unwritable_paths_are_named(tmp_path):
    dataset = CostDataset(X, X)
    with pytest.raises(FileFormatError, match="There is no file or folder"):
        read_dataset(tmp_path / "nothing.vw")
    (tmp_path / "a.xls").write_text("?")
    with pytest.raises(
        InputError, match=r"a.xls must be one of vw, svmlight, csv, jsonl, parquet, conll, npz, folder .* got '.xls'"
    ):
        read_dataset(tmp_path / "a.xls")
    with pytest.raises(InputError, match=r"must be one of vw, csv, npz, folder .* got 'svmlight'"):
        write_dataset(dataset, tmp_path / "a.svm")
    write_dataset(dataset, tmp_path / "a.npz")
    with pytest.raises(InputError, match=r"The npz format has no option 'bits'. The options are name\.$"):
        read_dataset(tmp_path / "a.npz", bits=3)


def test_an_unknown_option_gets_the_possible_ones_and_a_suggestion(tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\n1,a\n")
    with pytest.raises(InputError) as caught:
        read_dataset(tmp_path / "a.csv", lable="kind")
    assert str(caught.value) == (
        "The csv format has no option 'lable'. Did you mean 'label'? "
        "The options are label, cost_matrix, classes, ignore, text, id, encoder, embed, name, separator, decimal, "
        "encoding."
    )
    with pytest.raises(InputError, match=r"no option 'test_fracton'. The options are label"):
        read_dataset(tmp_path / "a.csv", test_fracton=0.2)


@pytest.mark.parametrize(
    ("file", "option"),
    [
        ("a.csv", "ignore"),
        ("a.csv", "text"),
        ("a.csv", "classes"),
        ("a.vw", "classes"),
        ("a.vw", "feature_names"),
        ("a.svm", "classes"),
        ("a.conll", "classes"),
    ],
)
def test_a_text_instead_of_a_list_is_refused(tmp_path, file, option):
    (tmp_path / file).write_text("1 2\n")
    with pytest.raises(InputError) as caught:
        read_dataset(tmp_path / file, **{option: "a, b"})
    assert str(caught.value) == (f"The option {option} must be a list, got the text 'a, b'. Pass {option}=['a', 'b'].")
