"""The data of the committed studies, which their plug-in loads from folders by name."""

import gzip
import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from coalface.data.encoding.text import hashed_tokens
from coalface.errors import FileFormatError, InputError
from coalface.studies.known import load_known
from stored_data import DATA, load
from tests.data.scenarios import runs_by_hand, write_archive, write_scenario


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("COALFACE_DATA", str(tmp_path))
    return tmp_path


def test_without_the_variable_every_name_says_what_to_set(monkeypatch):
    monkeypatch.delenv("COALFACE_DATA", raising=False)
    for name in DATA:
        with pytest.raises(InputError, match=r"folder \$COALFACE_DATA, which is not set. Set COALFACE_DATA"):
            load(name)


def test_fetched_data_comes_before_stored_data_and_other_names_are_the_librarys(data):
    train, test = load_known("iris")
    (data / "rcv1v2_subset").mkdir()
    for part, dataset in (("train", train), ("test", test)):
        dataset.save(data / "rcv1" / part)
    assert load("rcv1").test.fingerprint == test.fingerprint
    assert load("iris").train.fingerprint == train.fingerprint


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
    train, test = load("in20")
    assert train.classes.tolist() == ["cat", "car"]
    assert train.X.toarray().tolist() == [[0, 0.5], [3, 3.5]]
    assert train.cost.tolist() == [[0, 1], [1, 0]]
    assert test.cost.tolist() == [[1, 0], [0, 1]]
    np.testing.assert_array_equal(load("in20-1280").train.X.toarray(), train.X.toarray())
    for name in ("in40", "in40-1280", "tiny200"):
        train, _ = load(name)
        np.testing.assert_allclose(train.cost, [[0, 1 / 3, 1], [1 / 3, 0, 1], [1, 1, 0]], rtol=1e-6)
        assert train.name == name
    (folder / "subsets.json").write_text("{}")
    with pytest.raises(FileFormatError, match="must name the classes of in20"):
        load("in20")


def test_mnist_has_brightness_from_0_to_1(data):
    (data / "mnist").mkdir()
    parts = {"X_train": [[0, 255], [51, 0]], "y_train": [3, 9], "X_test": [[255, 255]], "y_test": [0]}
    np.savez(data / "mnist" / "mnist.npz", **{key: np.array(value, np.uint8) for key, value in parts.items()})
    train, test = load("mnist")
    np.testing.assert_allclose(train.X.toarray(), [[0, 1], [0.2, 0]])
    assert train.cost.argmin(axis=1).tolist() == [3, 9]
    assert (test.cost.sum(), len(test.classes)) == (9, 10)


def packed(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def test_every_word_of_conll2003_is_an_example_and_its_last_column_the_label(data):
    packed(data / "conll2003_ner" / "train.conll.gz", "Rome NNP I-NP B-LOC\nwon VBD I-VP O\n\nIt PRP I-NP O\n")
    packed(data / "conll2003_ner" / "test.conll.gz", "Bo NNP I-NP B-PER\nwon VBD I-VP O\n")
    train, test = load("conll2003")
    assert train.classes.tolist() == test.classes.tolist() == ["B-LOC", "B-PER", "O"]  # one is in the test data only
    assert train.cost.tolist() == [[0, 1, 1], [1, 1, 0], [1, 1, 0]]
    assert test.cost.tolist() == [[1, 0, 1], [1, 1, 0]]
    assert abs(train.X - hashed_tokens([["Rome", "won"], ["It"]])).nnz == 0
    assert (train.name, test.name) == ("conll2003", "conll2003")


def test_wikineural_is_read_like_conll2003_with_its_sentences(data):
    packed(data / "wikineural_en_ner" / "train.conll.gz", "Rome B-LOC\nwon O\n\nIt O\n")
    packed(data / "wikineural_en_ner" / "test.conll.gz", "Bo B-LOC\n")
    train, test = load("wikineural")
    assert (train.truth.tolist(), train.sequence.tolist()) == ([0, 1, 1], [0, 0, 1])
    assert (test.name, test.sequence.tolist()) == ("wikineural", [0])


def test_the_tags_of_ud_ewt_are_the_penn_treebanks(data):
    packed(data / "ud_english_pos" / "ewt-train.conll.gz", "cats\tNNS\tNOUN\nrun\tVBP\tVERB\n")
    packed(data / "ud_english_pos" / "ewt-test.conll.gz", "cat\tNN\tNOUN\n")
    train, test = load("ud-ewt")
    assert train.classes.tolist() == test.classes.tolist() == ["NN", "NNS", "VBP"]
    assert (train.truth.tolist(), test.truth.tolist()) == ([1, 2], [0])
    assert train.name == "ud-ewt"


def test_data_of_words_without_its_test_part_names_the_file(data):
    packed(data / "conll2003_ner" / "train.conll.gz", "Rome B-LOC\n")
    with pytest.raises(FileFormatError, match=r"There is no file .*test.conll.gz"):
        load("conll2003")


@pytest.mark.parametrize(("name", "folder"), [("rcv1", "rcv1v2_subset"), ("clinc150", "clinc150")])
def test_folders_with_a_tree_are_found_under_their_names(data, name, folder):
    (data / folder).mkdir()
    for part in ("train", "test"):
        save_npz(data / folder / f"X_{part}.npz", csr_matrix(np.eye(2)))
    np.savez(data / folder / "y.npz", y_train=[0, 1], y_test=[1, 1])
    (data / folder / "hierarchy.json").write_text('{"labels": ["a", "b"], "parent": {"a": "Root", "b": "Root"}}')
    train, test = load(name)
    assert (train.name, test.cost.tolist()) == (name, [[1, 0], [1, 0]])


def test_reduced_features_are_the_best_approximation_of_the_training_rows(data):
    random = np.random.default_rng(0)
    parts = [random.random((n, 300)) * (random.random((n, 300)) < 0.1) for n in (280, 20)]
    (data / "clinc150").mkdir()
    for part, X in zip(("train", "test"), parts, strict=True):
        save_npz(data / "clinc150" / f"X_{part}.npz", csr_matrix(X))
    np.savez(data / "clinc150" / "y.npz", y_train=np.arange(280) % 2, y_test=np.arange(20) % 2)
    (data / "clinc150" / "hierarchy.json").write_text('{"labels": ["a", "b"], "parent": {"a": "Root", "b": "Root"}}')
    train, test = load("clinc150-256")
    assert (train.name, train.X.shape, test.X.shape) == ("clinc150-256", (280, 256), (20, 256))
    np.testing.assert_array_equal(train.cost, load("clinc150").train.cost)
    sizes = np.linalg.svd(parts[0], compute_uv=False)
    np.testing.assert_allclose((train.X.toarray() ** 2).sum(), (sizes[:256] ** 2).sum(), rtol=1e-3)


def test_scenarios_are_found_as_archives_and_as_folders(data):
    write_archive(data / "aslib", "PACKED")
    write_scenario(data / "aslib" / "OPEN", list(runs_by_hand()))
    assert len(load("aslib/OPEN").train) == len(load("aslib/PACKED").train) == 16
    with pytest.raises(InputError, match=r"'aslib/PACKT' is not in the folder"):
        load("aslib/PACKT")


def test_a_folder_that_lacks_the_data_is_named(data):
    with pytest.raises(InputError, match=r"'mnist' is not in the folder .* names"):
        load("mnist")
    with pytest.raises(InputError, match="'aslib/X' is not in the folder"):
        load("aslib/X")
