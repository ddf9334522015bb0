"""One sparse example at a time, given as its non-zeros: asking about it, and telling the costs of some labels."""

import numpy as np
from scipy.sparse import csr_array


def sparse_row(learner, indices, values):
    """A row that is as wide as the learner needs."""
    columns = np.asarray(indices, np.int64).ravel()
    width = max(int(columns.max(initial=0)) + 1, getattr(learner, "n_features_in_", 1))
    return csr_array((np.asarray(values, float).ravel(), columns, [0, len(columns)]), shape=(1, width))


def ask_row(learner, indices, values):
    """The labels to ask about, the most promising first."""
    queries = learner.ask(sparse_row(learner, indices, values))
    asked = np.flatnonzero(queries.mask[0])
    return learner.classes_[asked[np.argsort(queries.predicted[0, asked], kind="stable")]]


def tell_row(learner, indices, values, labels, costs):
    """Learn the costs of some labels, which were asked for as the learner decides now."""
    row, names = sparse_row(learner, indices, values), learner.begin().classes_.tolist()
    cost, asked = np.full((1, len(names)), np.nan), np.zeros((1, len(names)), bool)
    codes = [names.index(label) for label in np.asarray(labels).tolist()]
    cost[0, codes], asked[0, codes] = costs, True
    return learner.tell(row, cost, asked=learner.ask(row).restricted_to(asked))
