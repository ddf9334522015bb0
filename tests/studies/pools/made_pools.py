"""Pools for tests: a trained model, and examples split into files."""

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from coalface import Coal, CoalClassifier
from coalface.learner.named_learner import NamedLearner

NAMES = ("a", "b", "c")
LABELS = ["billing", "other", "refund"]


def made_learner(model="online", n=60, seed=0):
    random = np.random.default_rng(seed)
    truth = random.integers(3, size=n)
    X = random.normal(size=(n, 3))
    X[np.arange(n), truth] += 1.5
    return CoalClassifier(LABELS, model=model, audits=None, rule=Coal(miss_rate=None), mellowness=0.3).fit(
        X, [LABELS[k] for k in truth]
    )


def made_examples(n, seed=1, repeated=0.3):
    """Rows of which some are repeated."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    copies = np.flatnonzero(random.random(n) < repeated)
    X[copies] = X[random.integers(n, size=len(copies))]
    return X


def save_model(learner, path):
    NamedLearner(learner, NAMES).save(path)
    return path


def write_parts(folder, X, ends, ids=None):
    """Files part-000.parquet and so on, of the rows between these ends."""
    folder.mkdir(exist_ok=True)
    starts = [0, *ends]
    for number, (start, stop) in enumerate(zip(starts, [*ends, len(X)], strict=True)):
        columns = {name: X[start:stop, place] for place, name in enumerate(NAMES)}
        columns["note"] = pa.array([f"note {row}" for row in range(start, stop)], pa.string())
        if ids is not None:
            columns["id"] = ids[start:stop]
        parquet.write_table(pa.table(columns), folder / f"part-{number:03d}.parquet")
    return f"{folder}/*.parquet"
