"""Datasets drawn at random for the laws of reading and writing."""

import numpy as np
from hypothesis import strategies as st

from coalface.data import CostDataset

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
costs = finite | st.just(float("nan"))
words = st.text(st.characters(codec="utf-8", categories=("L", "N"), include_characters="_-.^"), min_size=1, max_size=8)
label_words = words.filter(lambda text: text != "shared" and "^" not in text)
feature_words = words.filter(lambda text: "^" not in text) | st.tuples(label_words, words).map("^".join)


@st.composite
def datasets(draw, labels=None, features=None, candidates=False):
    n_rows = draw(st.integers(1, 5))
    n_features = draw(st.integers(1, 4))
    n_labels = draw(st.integers(1, 4))
    X = draw(st.lists(st.lists(finite, min_size=n_features, max_size=n_features), min_size=n_rows, max_size=n_rows))
    cost = draw(st.lists(st.lists(costs, min_size=n_labels, max_size=n_labels), min_size=n_rows, max_size=n_rows))
    classes = None if labels is None else draw(st.lists(labels, min_size=n_labels, max_size=n_labels, unique=True))
    names = None
    if features is not None:
        names = draw(st.lists(features, min_size=n_features, max_size=n_features, unique=True))
    may = None
    if candidates:
        flags = st.lists(st.booleans(), min_size=n_labels, max_size=n_labels)
        may = np.array(draw(st.lists(flags, min_size=n_rows, max_size=n_rows))) | ~np.isnan(cost)
        may[~may.any(axis=1)] = True
    return CostDataset(
        np.array(X, dtype=np.float32),
        np.array(cost, dtype=np.float32),
        classes,
        feature_names=names,
        candidates=may,
    )


def assert_same(first, second):
    """Both hold the same examples, labels, costs, candidates and names."""
    np.testing.assert_array_equal(first.X.toarray(), second.X.toarray())
    np.testing.assert_array_equal(first.cost, second.cost)
    assert first.classes.tolist() == second.classes.tolist()
    assert first.feature_names == second.feature_names
    assert first.fingerprint == second.fingerprint
