"""Fetching data, with fakes of scikit-learn's fetchers."""

from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from scipy.sparse import csr_matrix
from sklearn.utils import Bunch

from coalface.errors import InputError
from coalface.studies.known import load_known
from coalface.studies.known.fetching import FetchError, fetch
from coalface.studies.known.sklearn_downloads import newsgroup_tree, rcv1_tree

GROUPS = ["comp.sys.ibm", "comp.sys.mac", "misc.forsale", "rec.autos"]
TOPICS = sorted(rcv1_tree().labels)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("COALFACE_DATA", str(tmp_path))
    return tmp_path


def fake(monkeypatch, name, result):
    """Replace one of scikit-learn's fetchers; ``result`` may be an error."""

    def fetcher(**options):
        if isinstance(result, BaseException):
            raise result
        return result(**options)

    monkeypatch.setattr(sklearn.datasets, name, fetcher)


def rcv1(subset):
    rows = {"train": [["C151", "C15", "CCAT"]], "test": [["GCAT"], ["M143", "M14", "MCAT", "GCAT"], ["E12", "ECAT"]]}
    true = np.array([[topic in row for topic in TOPICS[::-1]] for row in rows[subset]])
    return Bunch(
        data=csr_matrix(np.arange(1.0, len(true) * 4 + 1).reshape(-1, 4)),
        target=csr_matrix(true.astype(np.uint8)),
        sample_id=np.arange(len(true), dtype=np.uint32),
        target_names=np.array(TOPICS[::-1], dtype=object),
        DESCR="",
    )


def newsgroups(subset, n=40):
    texts = [
        f"From: {GROUPS[i % 4]}\nSubject: offer 1\n\nword the word thing{' thing' * (i % 2)} 123\n" for i in range(n)
    ]
    return Bunch(data=texts, target=np.arange(n) % 4, target_names=GROUPS, filenames=None, DESCR="")


def test_rcv1_learns_from_the_large_part_and_only_specific_topics_cost_nothing(data, monkeypatch):
    fake(monkeypatch, "fetch_rcv1", rcv1)
    fetch("rcv1", data)
    train, test = load_known("rcv1")
    assert (len(train), len(test), len(train.classes)) == (3, 1, 103)
    free = [train.classes[row == 0].tolist() for row in (*train.cost, *test.cost)]
    assert free == [["GCAT"], ["GCAT", "M143"], ["E12"], ["C151"]]
    place = {topic: column for column, topic in enumerate(train.classes.tolist())}
    # C151 up to CCAT: 2 edges; to the root and down to GCAT: 4; to M143, a level deeper than M14: 6 of the largest, 7
    assert test.cost[0, [place["CCAT"], place["GCAT"], place["M143"]]] == pytest.approx([2 / 7, 4 / 7, 6 / 7])
    np.testing.assert_array_equal(test.X.toarray(), [[1, 2, 3, 4]])


def test_newsgroups_are_words_of_subject_and_body_with_costs_by_name(data, monkeypatch):
    fake(monkeypatch, "fetch_20newsgroups", newsgroups)
    fetch("newsgroups20", data)
    train, test = load_known("newsgroups20")
    assert set(train.feature_names) == {"offer", "thing", "word"}  # no header, no digits
    assert train.cost[0].tolist() == [0, pytest.approx(2 / 3), 1, 1]
    assert (len(test), test.classes.tolist()) == (40, GROUPS)
    np.testing.assert_allclose(np.sqrt((train.X.toarray() ** 2).sum(axis=1)), 1, rtol=1e-5)


def test_a_newsgroup_alone_in_its_branch_is_a_child_of_the_root():
    labels = ["alt.atheism", "comp.os.ms-windows.misc", "comp.graphics", "sci.med"]
    assert newsgroup_tree(labels).distances()[0].tolist() == [0, 3, 3, 2]


def test_covertype_is_standardised_by_its_training_rows(data, monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.normal(5, 3, (200, 3)), random.integers(1, 8, 200).astype(np.int32)
    found = Bunch(data=X, target=y, target_names=["Cover_Type"], feature_names=["a", "b", "c"], frame=None, DESCR="")
    fake(monkeypatch, "fetch_covtype", lambda: found)
    train, test = fetch("covertype", data)
    assert (len(train), len(test), train.classes.tolist()) == (180, 20, list(range(1, 8)))
    dense = train.X.toarray().astype(np.float64)
    np.testing.assert_allclose(dense.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(dense.std(axis=0), 1, rtol=1e-6)
    shown = np.vstack([dense, test.X.toarray()]) * X.std() + X.mean()
    assert len(np.unique(shown.round(2), axis=0)) == 200  # every row is there once


def test_olivetti_tests_on_three_pictures_of_every_person(data, monkeypatch):
    faces = np.random.default_rng(0).random((400, 16), dtype=np.float32)
    fake(monkeypatch, "fetch_olivetti_faces", lambda: Bunch(data=faces, images=None, target=np.arange(400) // 10))
    train, test = fetch("olivetti", data)
    assert np.bincount(test.truth).tolist() == [3] * 40
    assert np.bincount(train.truth).tolist() == [7] * 40
    assert (np.diff(train.truth) < 0).any()  # persons are mixed


@pytest.mark.parametrize(
    "error", [URLError("no route to host"), TimeoutError(), OSError("The SHA256 checksum differs\nx")]
)
def test_without_a_network_the_error_is_one_line_and_nothing_is_written(data, monkeypatch, error):
    fake(monkeypatch, "fetch_olivetti_faces", error)
    with pytest.raises(FetchError, match=r"olivetti could not be downloaded \(.+\), and nothing was written") as caught:
        fetch("olivetti", data / "new")
    assert "\n" not in str(caught.value)
    assert list(data.iterdir()) == []


def test_a_failed_write_leaves_nothing(data, monkeypatch):
    fake(monkeypatch, "fetch_rcv1", rcv1)
    saved = []

    def save(dataset, folder):
        if saved:
            raise OSError("The disk is full")
        saved.append(folder)
        folder.mkdir(parents=True)

    monkeypatch.setattr("coalface.data.dataset.CostDataset.save", save)
    with pytest.raises(OSError, match="The disk is full"):
        fetch("rcv1", data)
    assert [path.name for path in (data / "rcv1").iterdir()] == []


def test_existing_folders_are_kept(data, monkeypatch):
    fake(monkeypatch, "fetch_rcv1", rcv1)
    first = fetch("rcv1", data)
    fake(monkeypatch, "fetch_rcv1", AssertionError("must not download"))
    with pytest.raises(InputError, match="already holds the data"):
        fetch("rcv1", data)
    assert load_known("rcv1").train.fingerprint == first.train.fingerprint
    (data / "olivetti" / "train").mkdir(parents=True)
    with pytest.raises(InputError, match="is not a dataset, so it was not replaced"):
        fetch("olivetti", data)
    (data / "file").touch()
    with pytest.raises(InputError, match="is not a writable folder"):
        fetch("olivetti", data / "file")


def test_the_rest_of_an_interrupted_fetch_is_replaced(data, monkeypatch):
    fake(monkeypatch, "fetch_rcv1", rcv1)
    whole = fetch("rcv1", data / "other")
    whole.test.save(data / "rcv1" / "train")
    with pytest.raises(InputError, match=r"is not in .* Run `coalface data fetch rcv1`"):
        load_known("rcv1")
    assert fetch("rcv1", data).train.fingerprint == whole.train.fingerprint


def test_fetching_needs_a_name_that_can_be_fetched(data):
    with pytest.raises(InputError, match="'wine' is bundled and needs no fetching"):
        fetch("wine", data)
