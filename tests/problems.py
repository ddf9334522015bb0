"""Small learning problems, and the state of a learner as something that can be compared."""

import pickle

import numpy as np
from scipy import sparse
from sklearn.base import clone

from coalface import Coal, CoalClassifier, simulate
from coalface.paper import ExactModel

DEFAULTS = {
    name: value for name, value in CoalClassifier(rule=Coal()).get_params(deep=False).items() if value is not None
}
ROW, COST = [[1.0, 2.0, 3.0]], [[0.0, 1.0, 0.5]]  # one example for the learner of conftest


def dense_problem(seed, n_labels, n=120, n_features=8, *, decades=0.0, real_costs=True):
    """Half-empty rows over so many decades, and costs in [0, 1] that depend on their signs, with noise."""
    random = np.random.default_rng(seed)
    directions = random.normal(size=(n, n_features)) * (random.random((n, n_features)) < 0.5)
    scores = directions @ random.normal(size=(n_features, n_labels)) + 0.5 * random.normal(size=(n, n_labels))
    sizes = 10.0 ** random.uniform(-decades / 2, decades / 2, directions.shape)
    costs = 1 / (1 + np.exp(-2 * scores)) if real_costs else (scores > scores.min(axis=1, keepdims=True))
    return (directions * sizes).astype(np.float32), costs.astype(np.float32)


def sparse_problem(seed, n_labels, n=120, n_features=400):
    """Rows as of a text: few words, some common, new ones all along; some zeros are stored, some rows empty."""
    random = np.random.default_rng(seed)
    counts = random.poisson(6, n)
    counts[random.random(n) < 0.05] = 0
    rows = []
    for count in counts:
        columns = np.unique((n_features * random.random(count) ** 3).astype(np.int64))
        values = random.choice([0.0, 0.5, 1.0, -2.0, 3.0], len(columns), p=[0.1, 0.3, 0.3, 0.2, 0.1])
        rows.append((columns, values))
    lengths = [len(columns) for columns, _ in rows]
    X = sparse.csr_array(
        (
            np.concatenate([values for _, values in rows]).astype(np.float32),
            np.concatenate([columns for columns, _ in rows]),
            np.concatenate([[0], np.cumsum(lengths)]),
        ),
        shape=(n, n_features),
    )
    scores = X @ random.normal(size=(n_features, n_labels)) + 0.3 * random.normal(size=(n, n_labels))
    return X, (1 / (1 + np.exp(-scores))).astype(np.float32)


def matrix_costs(cost, seed=0):
    """Costs of a matrix, 0 on its diagonal and above 0.2 elsewhere, where the true label is the one of least cost."""
    n_labels = cost.shape[1]
    matrix = np.random.default_rng(seed).uniform(0.2, 1, (n_labels, n_labels)).astype(np.float32)
    np.fill_diagonal(matrix, 0)
    return matrix[cost.argmin(axis=1)]


def trained(seed=0, n_labels=4, n=60, **params):
    """A learner that has been through a short run, as published but for ``params``, and rows it has not seen."""
    X, cost = dense_problem(seed, n_labels, n + 20)
    learner = CoalClassifier.as_published(classes=range(n_labels), **{"rule__warm_up": 2, "shuffle": False, **params})
    low, high = learner.cost_bounds
    simulate(learner, X[:n], np.clip(low + (high - low) * cost[:n].astype(np.float64), low, high))
    return learner, X[n:]


def exact_learner(classes=None, **params):
    """COAL with exact ranges, as Algorithm 1 has it, on rows in the order given; ``params`` may be nested."""
    rule = Coal(width_scale=1.0, in_turn=False)
    learner = CoalClassifier(classes, model=ExactModel(), rule=rule, mellowness=1.0, audits=None, shuffle=False)
    return learner.set_params(**params)


def parts_of(params):
    """Nested parameters by the names that the references have for them."""
    parts = {name.rpartition("__")[2]: value for name, value in params.items()}
    if "audits" in parts:
        parts["audit_rate"] = parts.pop("audits").rate
    if "abstain" in parts:
        parts["abstain_cost"] = parts.pop("abstain").cost
    return parts


def state_of(learner):
    """Everything that learning changes, as bytes."""
    if not hasattr(learner, "model_"):
        return None
    arrays = {name: (array.shape, array.tobytes()) for name, array in learner.model_.arrays().items()}
    return {**arrays, "width": getattr(learner, "n_features_in_", None), "classes": learner.classes_.tolist()}


def ask_and_tell(learner, X, cost, candidates=None):
    """Row by row, what ``simulate`` does in its compiled loop."""
    for i in range(X.shape[0]):
        row = X[i : i + 1]
        allowed = None if candidates is None else candidates[i : i + 1]
        asked = np.zeros((1, cost.shape[1]), np.bool_)
        queries = first = learner.ask(row, candidates=allowed)
        while queries.next.any():  # one question after the other
            asked |= queries.next
            answers = np.where(asked, cost[i : i + 1], np.nan)
            queries = learner.ask(row, candidates=allowed, known=answers, asked=asked)
        learner.tell(
            row, np.where(asked, cost[i : i + 1], np.nan), asked=first.restricted_to(asked), candidates=allowed
        )
    return learner


def ask_and_tell_in_batches(learner, X, cost, batch, candidates=None):
    """So many rows at a time, in as many trips as it takes: what ``simulate(batch=...)`` does. The number of trips."""
    trips = 0
    for start in range(0, X.shape[0], batch):
        span = slice(start, start + batch)
        rows, costs, allowed = X[span], cost[span], None if candidates is None else candidates[span]
        asked = np.zeros(costs.shape, np.bool_)
        queries = first = learner.ask(rows, candidates=allowed)
        while queries.next.any():
            assert not (queries.next & asked).any()
            asked |= queries.next
            queries = learner.ask(rows, candidates=allowed, known=np.where(asked, costs, np.nan), asked=asked)
            trips += 1
        learner.tell(rows, np.where(asked, costs, np.nan), asked=first.restricted_to(asked), candidates=allowed)
    return trips


def cut_in_two(learner, X, cost, file, go_on=simulate):
    """A run in one, and the same run cut in two by save and load; ``go_on`` runs its second half."""
    learner = clone(learner).set_params(shuffle=False)
    whole, first, kind = clone(learner), clone(learner), type(learner)
    simulate(whole, X, cost)
    simulate(first, X[:50], cost[:50])
    first.save(file)
    second = kind.load(file)
    assert state_of(second) == state_of(first)
    go_on(second, X[50:], cost[50:])
    return whole, second


def csr(values, indices, indptr=None, width=3):
    """A matrix as somebody might put it together by hand, unchecked."""
    matrix = sparse.csr_array((1, width), dtype=np.float64)
    matrix.data, matrix.indices = np.asarray(values, np.float64), np.asarray(indices)
    matrix.indptr = np.array([0, len(indices)]) if indptr is None else np.asarray(indptr)
    return matrix


def come_back(way, learner, ledger, folder):
    """The learner from a file, from a pickle, or from the ledger that recorded it."""
    learner.save(folder / "model")
    return {
        "file": lambda: CoalClassifier.load(folder / "model"),
        "pickle": lambda: pickle.loads(pickle.dumps(learner)),
        "ledger": lambda: CoalClassifier.from_ledger(ledger),
    }[way]()
