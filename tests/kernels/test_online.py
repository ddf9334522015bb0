"""The machine code does what the Python text says."""

import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import sys, warnings
warnings.simplefilter("ignore")  # integers that wrap around, divisions by zero: they are meant
import numpy as np
from coalface import Abstain, Audits, Coal, CoalClassifier, simulate
from coalface.kernels.online import tell_rows
from coalface.models.online import OnlineModel
from tests.problems import DEFAULTS, ask_and_tell, sparse_problem
assert hasattr(tell_rows, "py_func") == (sys.argv[2] == "compiled")
settings = [
    {},
    {"model__accumulator": "adagrad", "rule": "all-or-none"},
    {"model__sensitivity": "seen-only", "rule__slack": "noise-scaled", "audits": Audits(0.3), "random_state": 2**61},
    {"model__sensitivity": "derivative", "rule": "no-domination", "mellowness": 0.001},
    {"n_labels": 40, "model__fit_intercept": False, "mellowness": 0.001},
    {"n_labels": 1, "rule": "passive"},
    {"budget": {"costs": 140, "over": 70}, "audits": Audits(0.3), "mellowness": 0.1},
    {"budget": {"price": 120.7, "over": 75, "price_per_example": 1.3, "price_per_cost": 0.4}},
    {"budget": {"examples": 50, "over": 80}, "rule": "all-or-none", "audits": Audits(0.3)},
    {"budget": {"costs": 100, "over": 80}, "rule": "passive"},
    dict(DEFAULTS),
    {"abstain": Abstain(0.2), "audits": Audits(0.3)},
    {**DEFAULTS, "rule": Coal(alike=0.3, warm_up=2)},
    {**DEFAULTS, "model": OnlineModel(interactions=2)},
    {"model": OnlineModel(interactions=[((0, 50), (50, 400)), ((0, 50), (0, 50))], fit_intercept=False)},
    {**DEFAULTS, "price_of_truth": 2, "rule": Coal(alike=0.3), "audits": Audits(0.3), "mellowness": 0.01},
    {"price_of_truth": 1, "audits": Audits(0.4), "mellowness": 0.001, "budget": {"costs": 100, "over": 80}},
]
out = {}
for number, params in enumerate(settings):
    n_labels = params.pop("n_labels", 5)
    X, cost = sparse_problem(number, n_labels, 60)
    if "price_of_truth" in params:
        cost = (1.0 - np.eye(n_labels, dtype=np.float32))[cost.argmin(axis=1)]
    cost[3::7, 0] = np.nan
    learner = CoalClassifier.as_published(classes=range(n_labels), **{"rule__warm_up": 2, **params})
    simulate(learner, X[:40], cost[:40])
    ask_and_tell(learner, X[40:], cost[40:], np.arange(20 * n_labels).reshape(20, n_labels) % 4 > 0)
    queries = learner.ask(X)
    simulate(learner, X[:40], cost[:40], batch=9)
    arrays = dict(learner.model_.arrays(), mask=queries.mask, next=queries.next, lowest=queries.ranges.lowest,
                  highest=queries.ranges.highest, predicted=queries.predicted, reasons=queries.reason_codes,
                  truth=queries.truth,
                  propensity=queries.propensity, best=learner.predict(X))
    out |= {f"{number} {name}": array for name, array in arrays.items()}
np.savez(sys.argv[1], **out)
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    found = []
    for way, disabled in (("compiled", "0"), ("python", "1")):
        path = folder / f"{way}.npz"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(path), way],
            check=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
        )
        with np.load(path) as content:
            found.append(dict(content))
    return found


def test_the_python_bodies_give_the_same_bits_as_the_machine_code(runs):
    compiled, python = runs
    assert compiled.keys() == python.keys()
    for name, array in compiled.items():
        np.testing.assert_array_equal(array, python[name], err_msg=name)


def test_the_runs_compared_had_something_to_decide(runs):
    compiled, _ = runs
    shares = [compiled[f"{number} mask"].mean() for number in (0, 1, 2, 3, 4, 6, 8, 10, 12, 13, 14)]
    assert all(0 < share < 1 for share in shares)
    assert 0 < np.mean(compiled["11 best"] == -1) < 1
    assert all(0 < compiled[f"{number} truth"].mean() < 1 for number in (15, 16))
