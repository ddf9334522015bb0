"""Loading data by name."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from coalface.data import read_dataset
from coalface.data.formats.readers import holds_train_test, read_train_test
from coalface.errors import FileFormatError, InputError
from coalface.studies.known import known_data, load_known
from tests.data.scenarios import runs_by_hand, write_archive, write_scenario


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("COALFACE_DATA", str(tmp_path))
    return tmp_path


def line(name):
    return next(known for known in known_data() if known.name == name)


@pytest.mark.parametrize("name", ["digits", "digits-distance"])
def test_the_digits_are_scikit_learns_in_a_fixed_order(name):
    pixels, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digit))
    matrix = np.abs(np.arange(10)[:, None] - np.arange(10)) / 9 if "distance" in name else 1 - np.eye(10)
    for part, rows in zip(load_known(name), (order[500:], order[:500]), strict=True):
        np.testing.assert_array_equal(part.X.toarray(), (pixels[rows] / 16).astype(np.float32))
        np.testing.assert_array_equal(part.cost, matrix[digit[rows]].astype(np.float32))


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
    with pytest.raises(InputError, match=r"\$COALFACE_DATA names. Run `coalface data fetch rcv1 --into DIR`"):
        load_known("rcv1")
    absent = [known.name for known in known_data() if not known.there]
    assert absent == ["rcv1", "newsgroups20", "covertype", "olivetti"]
    assert all(known.there == (known.remedy == "") for known in known_data())


def test_an_unknown_name_gets_suggestions():
    with pytest.raises(InputError, match=r"no data named 'digit-distance'. Did you mean 'digits-distance'") as caught:
        load_known("digit-distance")
    assert str(caught.value).endswith(".")  # callers append a full stop to other endings
    with pytest.raises(InputError, match="`coalface data list` shows all names"):
        load_known("zzz")


def test_fetched_data_is_listed_with_its_size(data):
    train, test = load_known("iris")
    train.save(data / "rcv1" / "train")
    assert (line("rcv1").there, line("rcv1").n_labels) == (False, 103)
    test.save(data / "rcv1" / "test")
    assert (line("rcv1").there, line("rcv1").n_train, line("rcv1").n_labels) == (True, 105, 3)
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
