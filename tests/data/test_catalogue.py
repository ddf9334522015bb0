"""Loading data by name."""

import gzip
import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from sklearn.datasets import load_iris

from coalface.data import read_dataset
from coalface.data.encoders import hashed_tokens
from coalface.data.formats.readers import holds_train_test, read_train_test
from coalface.errors import FileFormatError, InputError
from coalface.studies.demo.runs import Digits, cost_matrices
from coalface.studies.known import known_data, load_known
from tests.data.scenarios import runs_by_hand, write_archive, write_scenario


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("COALFACE_DATA", str(tmp_path))
    return tmp_path


def line(name):
    return next(known for known in known_data() if known.name == name)


@pytest.mark.parametrize(("name", "kind"), [("digits", "0/1"), ("digits-distance", "|i-j|/9")])
def test_the_digits_are_those_of_the_demo(name, kind):
    digits, matrix = Digits.load(), cost_matrices()[kind]
    train, test = load_known(name)
    np.testing.assert_array_equal(train.X.toarray(), digits.X.astype(np.float32))
    np.testing.assert_array_equal(train.cost, matrix[digits.digit].astype(np.float32))
    np.testing.assert_array_equal(test.X.toarray(), digits.X_test.astype(np.float32))
    np.testing.assert_array_equal(test.cost, matrix[digits.digit_test].astype(np.float32))


@pytest.mark.parametrize("name", ["wine", "breast-cancer", "iris"])
def test_bundled_tables_are_standardised_by_their_training_rows(name):
    train, test = load_known(name)
    dense = train.X.toarray().astype(np.float64)
    np.testing.assert_allclose(dense.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(dense.std(axis=0), 1, rtol=1e-5)
    assert abs(test.X.toarray().mean()) > 1e-4  # not by the test rows
    assert (len(train), len(test), len(train.classes)) == (line(name).n_train, line(name).n_test, line(name).n_labels)
    assert sorted(np.unique(train.cost)) == [0, 1]


def test_every_iris_row_keeps_its_own_label():
    X, y = load_iris(return_X_y=True)
    train, test = load_known("iris")
    whole = np.vstack([train.X.toarray(), test.X.toarray()])
    truth = np.concatenate([train.truth, test.truth])
    order = np.random.default_rng(0).permutation(150)
    placed = np.concatenate([order[45:], order[:45]])
    np.testing.assert_array_equal(truth, y[placed])
    for column in range(4):
        assert np.corrcoef(whole[:, column], X[placed, column])[0, 1] == pytest.approx(1)


def test_without_the_variable_the_error_says_what_to_set(monkeypatch):
    monkeypatch.delenv("COALFACE_DATA", raising=False)
    with pytest.raises(InputError, match=r"\$COALFACE_DATA, which is not set. Set COALFACE_DATA .* holds it\.$"):
        load_known("in20")
    with pytest.raises(InputError, match=r"which is not set.*, or run `coalface data fetch rcv1 --into DIR`"):
        load_known("rcv1")
    absent = [known.name for known in known_data() if not known.there]
    assert {"in20", "rcv1", "mnist", "covertype", "aslib/SCENARIO", "tabular/TABLE"} <= set(absent)
    assert all(known.there == (known.remedy == "") for known in known_data())


def test_an_unknown_name_gets_suggestions():
    with pytest.raises(InputError, match=r"no data named 'digit-distance'. Did you mean 'digits-distance'") as caught:
        load_known("digit-distance")
    assert str(caught.value).endswith(".")  # callers append a full stop to other endings
    with pytest.raises(InputError, match="`coalface data list` shows all names"):
        load_known("zzz")


def test_a_folder_that_lacks_the_data_is_named(data):
    with pytest.raises(InputError, match=r"'mnist' is not in the folder .* names"):
        load_known("mnist")
    with pytest.raises(InputError, match="'aslib/X' is not in the folder"):
        load_known("aslib/X")


def test_images_cost_their_distance_in_the_tree(data):
    folder = data / "tinyimagenet"
    folder.mkdir()
    small, large = ["n1", "n3"], ["n1", "n2", "n3"]
    subsets = {
        "in20": {"classes": small, "names": ["cat", "car"]},
        "in40": {"classes": large, "names": ["cat", "dog", "car"]},
        "all200": {"classes": large, "names": ["cat", "dog", "car"]},
    }
    (folder / "subsets.json").write_text(json.dumps(subsets))
    X, y = np.arange(12, dtype=np.uint8).reshape(6, 2), np.array([0, 1, 2, 2, 1, 0], np.uint8)
    is_test = np.array([False, False, True, False, True, True])
    for file in ("in40_sp5120_q4", "all200_gap1280_q4"):
        np.savez(folder / f"{file}.npz", X=X, y=y, test=is_test, scale=np.float32(0.5))
    np.save(folder / "tree_distance_in20.npy", np.array([[0, 6], [6, 0]], np.int8))
    for subset in ("in40", "all200"):
        np.save(folder / f"tree_distance_{subset}.npy", np.array([[0, 2, 6], [2, 0, 6], [6, 6, 0]], np.int8))
    train, test = load_known("in20")
    assert train.classes.tolist() == ["cat", "car"]
    assert train.X.toarray().tolist() == [[0, 0.5], [3, 3.5]]
    assert train.cost.tolist() == [[0, 1], [1, 0]]
    assert test.cost.tolist() == [[1, 0], [0, 1]]
    np.testing.assert_array_equal(load_known("in20-1280").train.X.toarray(), train.X.toarray())
    for name in ("in40", "in40-1280", "tiny200"):
        train, _ = load_known(name)
        np.testing.assert_allclose(train.cost, [[0, 1 / 3, 1], [1 / 3, 0, 1], [1, 1, 0]], rtol=1e-6)
        assert train.name == name
    (folder / "subsets.json").write_text("{}")
    with pytest.raises(FileFormatError, match="must name the classes of in20"):
        load_known("in20")


def test_mnist_has_brightness_from_0_to_1(data):
    (data / "mnist").mkdir()
    parts = {"X_train": [[0, 255], [51, 0]], "y_train": [3, 9], "X_test": [[255, 255]], "y_test": [0]}
    np.savez(data / "mnist" / "mnist.npz", **{key: np.array(value, np.uint8) for key, value in parts.items()})
    train, test = load_known("mnist")
    np.testing.assert_allclose(train.X.toarray(), [[0, 1], [0.2, 0]])
    assert train.cost.argmin(axis=1).tolist() == [3, 9]
    assert (test.cost.sum(), len(test.classes)) == (9, 10)


def packed(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def test_every_word_of_conll2003_is_an_example_and_its_last_column_the_label(data):
    packed(data / "conll2003_ner" / "train.conll.gz", "Rome NNP I-NP B-LOC\nwon VBD I-VP O\n\nIt PRP I-NP O\n")
    packed(data / "conll2003_ner" / "test.conll.gz", "Bo NNP I-NP B-PER\nwon VBD I-VP O\n")
    train, test = load_known("conll2003")
    assert train.classes.tolist() == test.classes.tolist() == ["B-LOC", "B-PER", "O"]  # one is in the test data only
    assert train.cost.tolist() == [[0, 1, 1], [1, 1, 0], [1, 1, 0]]
    assert test.cost.tolist() == [[1, 0, 1], [1, 1, 0]]
    assert abs(train.X - hashed_tokens([["Rome", "won"], ["It"]])).nnz == 0
    assert (train.name, test.name, line("conll2003").there) == ("conll2003", "conll2003", True)


def test_wikineural_is_read_like_conll2003_with_its_sentences(data):
    packed(data / "wikineural_en_ner" / "train.conll.gz", "Rome B-LOC\nwon O\n\nIt O\n")
    packed(data / "wikineural_en_ner" / "test.conll.gz", "Bo B-LOC\n")
    train, test = load_known("wikineural")
    assert (train.truth.tolist(), train.sequence.tolist()) == ([0, 1, 1], [0, 0, 1])
    assert (test.name, test.sequence.tolist()) == ("wikineural", [0])


def test_the_tags_of_ud_ewt_are_the_penn_treebanks(data):
    packed(data / "ud_english_pos" / "ewt-train.conll.gz", "cats\tNNS\tNOUN\nrun\tVBP\tVERB\n")
    packed(data / "ud_english_pos" / "ewt-test.conll.gz", "cat\tNN\tNOUN\n")
    train, test = load_known("ud-ewt")
    assert train.classes.tolist() == test.classes.tolist() == ["NN", "NNS", "VBP"]
    assert (train.truth.tolist(), test.truth.tolist()) == ([1, 2], [0])
    assert (train.name, line("ud-ewt").there) == ("ud-ewt", True)


def test_data_of_words_without_its_test_part_names_the_file(data):
    packed(data / "conll2003_ner" / "train.conll.gz", "Rome B-LOC\n")
    with pytest.raises(FileFormatError, match=r"There is no file .*test.conll.gz"):
        load_known("conll2003")


@pytest.mark.parametrize(("name", "folder"), [("rcv1", "rcv1v2_subset"), ("clinc150", "clinc150")])
def test_folders_with_a_tree_are_found_under_their_names(data, name, folder):
    (data / folder).mkdir()
    for part in ("train", "test"):
        save_npz(data / folder / f"X_{part}.npz", csr_matrix(np.eye(2)))
    np.savez(data / folder / "y.npz", y_train=[0, 1], y_test=[1, 1])
    (data / folder / "hierarchy.json").write_text('{"labels": ["a", "b"], "parent": {"a": "Root", "b": "Root"}}')
    train, test = load_known(name)
    assert (train.name, test.cost.tolist()) == (name, [[1, 0], [1, 0]])
    assert line(name).there


def test_reduced_features_are_the_best_approximation_of_the_training_rows(data):
    random = np.random.default_rng(0)
    parts = [random.random((n, 300)) * (random.random((n, 300)) < 0.1) for n in (280, 20)]
    (data / "clinc150").mkdir()
    for part, X in zip(("train", "test"), parts, strict=True):
        save_npz(data / "clinc150" / f"X_{part}.npz", csr_matrix(X))
    np.savez(data / "clinc150" / "y.npz", y_train=np.arange(280) % 2, y_test=np.arange(20) % 2)
    (data / "clinc150" / "hierarchy.json").write_text('{"labels": ["a", "b"], "parent": {"a": "Root", "b": "Root"}}')
    train, test = load_known("clinc150-256")
    assert (train.name, train.X.shape, test.X.shape) == ("clinc150-256", (280, 256), (20, 256))
    np.testing.assert_array_equal(train.cost, load_known("clinc150").train.cost)
    sizes = np.linalg.svd(parts[0], compute_uv=False)
    np.testing.assert_allclose((train.X.toarray() ** 2).sum(), (sizes[:256] ** 2).sum(), rtol=1e-3)


def test_scenarios_are_found_as_archives_and_as_folders(data):
    write_archive(data / "aslib", "PACKED")
    write_scenario(data / "aslib" / "OPEN", list(runs_by_hand()))
    names = [known.name for known in known_data() if known.name.startswith("aslib/")]
    assert names == ["aslib/OPEN", "aslib/PACKED"]
    assert (line("aslib/PACKED").n_train, line("aslib/PACKED").n_test, line("aslib/PACKED").n_labels) == (16, 4, 2)
    assert len(load_known("aslib/OPEN").train) == len(load_known("aslib/PACKED").train) == 16
    with pytest.raises(InputError, match=r"no data named 'aslib/PACKT'. Did you mean 'aslib/PACKED'"):
        load_known("aslib/PACKT")


def test_fetched_data_takes_precedence_and_is_listed_with_its_size(data):
    train, test = load_known("iris")
    (data / "rcv1v2_subset").mkdir()
    train.save(data / "rcv1" / "train")
    assert (line("rcv1").origin, line("rcv1").n_labels) == ("$COALFACE_DATA", 102)
    test.save(data / "rcv1" / "test")
    assert (line("rcv1").origin, line("rcv1").n_train, line("rcv1").n_labels) == ("fetched", 105, 3)
    assert load_known("rcv1").test.fingerprint == test.fingerprint


def test_a_path_with_both_parts_is_read_as_training_and_test_data_only(tmp_path):
    write_archive(tmp_path, "PACKED")
    scenario = write_scenario(tmp_path / "OPEN", list(runs_by_hand()))
    for part, dataset in load_known("iris")._asdict().items():
        dataset.save(tmp_path / "flowers" / part)
    for path in (tmp_path / "PACKED.npz", scenario, tmp_path / "flowers"):
        assert holds_train_test(path)
        assert len(read_train_test(path).train) > len(read_train_test(path).test) > 0
        with pytest.raises(InputError, match="holds training and test data"):
            read_dataset(path)
    assert not holds_train_test(tmp_path / "flowers" / "train")
    with pytest.raises(FileFormatError, match="must hold training and test data"):
        read_train_test(tmp_path / "flowers" / "train")


def test_the_fetch_command_needs_a_folder_only_without_the_variable(data, monkeypatch):
    assert line("covertype").remedy == "coalface data fetch covertype"
    monkeypatch.delenv("COALFACE_DATA")
    assert line("covertype").remedy == "coalface data fetch covertype --into DIR"
