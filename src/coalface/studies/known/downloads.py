"""Datasets that scikit-learn downloads, turned into cost datasets.

Nothing is downloaded unless the user asks for it. scikit-learn keeps its own copy in the folder ``SCIKIT_LEARN_DATA``,
by default in the home folder.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostDataset, LabelTree, TrainTest, nearest_costs, standardised

_WORDS = r"(?u)\b[^\W\d_]{2,}\b"  # letters only


@dataclass(frozen=True)
class _Fetcher:
    """A dataset to download: its size (training rows, test rows, labels) and the function that loads it."""

    title: str
    sizes: tuple[int, int, int]
    load: Callable[[], TrainTest]


def rcv1_tree() -> LabelTree:
    """The 103 topics of RCV1-v2 below one root, in alphabetical order.

    >>> tree = rcv1_tree()
    >>> len(tree.labels), int(tree.distances().max())
    (103, 7)
    """
    text = files("coalface.studies.known").joinpath("rcv1_topics.json").read_text(encoding="utf-8")
    parents = json.loads(text)["parent"]
    return LabelTree.from_parents(parents, sorted(parents))


def newsgroup_tree(labels: list[str]) -> LabelTree:
    """The tree of newsgroups by the dots in their names; nodes with one child are left out.

    >>> newsgroup_tree(["rec.autos", "rec.sport.hockey", "rec.sport.baseball", "sci.med"]).distances()[0]
    array([0, 3, 3, 3], dtype=int32)
    """
    parents: dict[Any, Any] = {}
    for label in labels:
        parts = label.split(".")
        for depth in range(len(parts), 0, -1):
            parents[".".join(parts[:depth])] = ".".join(parts[: depth - 1]) or None
    return LabelTree.from_parents(parents, labels, collapse=True)


def _rcv1() -> TrainTest:
    """Training data is LYRL2004's large test set, as in the paper; test data is its small training set."""
    from sklearn import datasets

    tree = rcv1_tree()
    parts = []
    for subset in ("test", "train"):
        found = datasets.fetch_rcv1(subset=subset)
        order = np.argsort(np.asarray(found.target_names, dtype=str))
        true = found.target[:, order].toarray() != 0
        cost = nearest_costs(true, tree)
        parts.append(CostDataset(found.data, cost, np.array(tree.labels), name="rcv1"))
    return TrainTest(*parts)


def _newsgroups20() -> TrainTest:
    from sklearn import datasets
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words="english", token_pattern=_WORDS, dtype=np.float32)
    train, test = (datasets.fetch_20newsgroups(subset=subset) for subset in ("train", "test"))
    tree = newsgroup_tree([str(name) for name in train.target_names])
    rows = (
        vectors.fit_transform(map(_subject_and_body, train.data)),
        vectors.transform(map(_subject_and_body, test.data)),
    )
    words = vectors.get_feature_names_out().tolist()
    return TrainTest(
        *(
            CostDataset(
                X,
                classes=np.array(tree.labels),
                truth=found.target,
                cost_matrix=tree.cost_matrix(),
                feature_names=words,
                name="newsgroups20",
            )
            for X, found in zip(rows, (train, test), strict=True)
        )
    )


def _subject_and_body(posting: str) -> str:
    """The subject and body of a posting; its other header lines reveal the newsgroup."""
    header, _, body = posting.partition("\n\n")
    subjects = [line.partition(":")[2] for line in header.splitlines() if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body])


def _covertype() -> TrainTest:
    from sklearn import datasets

    found = datasets.fetch_covtype()
    order = np.random.default_rng(0).permutation(len(found.target))
    n_test = len(order) // 10
    is_test = np.zeros(len(order), dtype=np.bool_)
    is_test[order[:n_test]] = True
    X = standardised(found.data, np.flatnonzero(~is_test))
    return _labelled("covertype", X, found.target, order, is_test, list(found.feature_names))


def _olivetti() -> TrainTest:
    from sklearn import datasets

    found = datasets.fetch_olivetti_faces()
    order = np.random.default_rng(0).permutation(len(found.target))
    is_test = np.arange(len(order)) % 10 >= 7  # ten consecutive pictures per person, of which three are test data
    return _labelled("olivetti", found.data, found.target, order, is_test)


def _labelled(
    name: str,
    X: NDArray[Any],
    y: NDArray[Any],
    order: NDArray[np.int64],
    is_test: NDArray[np.bool_],
    feature_names: list[str] | None = None,
) -> TrainTest:
    """Data with 0/1 costs and the rows in this order, so that the labels are mixed."""
    whole = CostDataset.from_labels(X, np.asarray(y), feature_names=feature_names, name=name)
    return TrainTest(whole.subset(order[~is_test[order]]), whole.subset(order[is_test[order]]))


FETCHERS = {
    "rcv1": _Fetcher("news by topic, tree costs", (781_265, 23_149, 103), _rcv1),
    "newsgroups20": _Fetcher("postings by newsgroup, tree costs", (11_314, 7_532, 20), _newsgroups20),
    "covertype": _Fetcher("forest cover types, 0/1 costs", (522_911, 58_101, 7), _covertype),
    "olivetti": _Fetcher("faces by person, 0/1 costs", (280, 120, 40), _olivetti),
}
