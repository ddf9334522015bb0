"""A type checker knows the names of the wheel: it finds mistakes in a user's script, and none where there are none."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CORRECT = """
import numpy as np
from coalface import Audits, Budget, Coal, CoalClassifier, Curve, OnlineModel, Queries, simulate

X = np.array([[1.0, 0.0], [0.0, 1.0]] * 50)
cost = np.array([[0.0, 1.0], [1.0, 0.0]] * 50)
learner = CoalClassifier(["walk", "fly"], rule="all-or-none", budget=Budget(costs=100), random_state=1)
own = {"rule": Coal(warm_up=10), "audits": Audits(0.2), "model": OnlineModel(learning_rate=0.1)}
CoalClassifier(range(2), rule={"warm_up": 10}, model="online", budget=100).set_params(**own)
queries: Queries = learner.ask(X, max_costs=10)
wide = queries.ranges.width > 0.5
known = np.where(queries.mask, cost, np.nan)
labels: list[str] = learner.tell(X, known, asked=queries).predict(X).tolist()
curve: Curve = simulate(learner.set_params(budget=None), X, cost, X_test=X, cost_test=cost, checkpoints=[10, 20])
area: float = curve.auc
asked: int = learner.costs_queried_
learner.set_fit_request(cost=True).save("learner.coalface")
CoalClassifier.load("learner.coalface").score(X, cost=cost)
"""

MISTAKES = {
    "learner.askk(X)": "attr-defined",
    "from coalface import CoalClasifier": "attr-defined",
    "queries.maskk": "attr-defined",
    "learner.ask(X, max_cost=10)": "call-arg",
    'CoalClassifier(rule="coall")': "arg-type",
    'CoalClassifier(budget="100")': "arg-type",
    'simulate(learner, X, cost, checkpoints="doublng")': "arg-type",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of an environment with the wheel, which sees all packages of this one but its coalface."""
    folder = tmp_path_factory.mktemp("types")
    _done(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT)
    _done(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    (wheel,) = folder.glob("*.whl")
    _done(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    places = _done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    others = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    Path(places, "others.pth").write_text("\n".join(others), encoding="utf-8")
    found = _done(python, "-c", "import coalface; print(coalface.__file__)").strip()
    assert Path(found).is_relative_to(places)
    return python


def _done(*command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MYPY"))}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def checked(python, folder, script, *options):
    """What mypy without any configuration prints about a script, a line each."""
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--python-executable", str(python), *options, path.name]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MYPY"))}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_mypy_finds_every_mistake_in_a_script_that_uses_the_wheel_and_none_in_a_correct_one(installed, tmp_path):
    for options in ([], ["--strict"]):
        assert checked(installed, tmp_path, CORRECT, *options) == ["Success: no issues found in 1 source file"]
    *found, summary = checked(installed, tmp_path, CORRECT + "\n".join(MISTAKES))
    first = CORRECT.count("\n") + 1
    errors = [line for line in found if ": error: " in line]
    assert [int(line.split(":")[1]) for line in errors] == list(range(first, first + len(MISTAKES))), "\n".join(found)
    assert [line.rpartition("[")[2].rstrip("]") for line in errors] == list(MISTAKES.values())
    assert summary.startswith(f"Found {len(MISTAKES)} errors")
