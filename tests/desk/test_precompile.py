"""After the warm-up the service compiles nothing."""

import subprocess
import sys

SESSION = """
import pkgutil, importlib, sys
from pathlib import Path
import coalface.kernels
from coalface.desk.service.desk import Desk
from coalface.desk.web.service import warm_up
from tests.desk.desks import make_project

names = [found.name for found in pkgutil.iter_modules(coalface.kernels.__path__)]
found = [one for name in names for one in vars(importlib.import_module(f"coalface.kernels.{name}")).values()]
kernels = {f"{one.__module__}.{one.__name__}": one for one in found if hasattr(one, "signatures")}
compiled = lambda: {name: list(kernel.signatures) for name, kernel in kernels.items() if kernel.signatures}

project = make_project(Path(sys.argv[1]), levels=(), cost_bounds=(0.0, 10.0), learner={"rule": {"warm_up": 3}})
warm_up(project)
warm = compiled()
assert warm, "no kernel was found"
desk = Desk(project)
for i in range(12):
    question = desk.lease("ann")
    desk.not_asked(question)
    receipt = desk.answer("ann", question.id, question.lease_id, {question.labels[0]: 3.5}, str(i))
desk.undo("ann", receipt.answer_id)
desk.settle()
desk.overview(), desk.upcoming(30), desk.predict([{"text": "money"}, {"text": "back"}])
list(desk.export("model"))
desk.close()
new = {name: found for name, found in compiled().items() if found != warm.get(name)}
assert not new, new
"""


def test_a_session_after_the_warm_up_compiles_nothing(tmp_path):
    session = subprocess.run([sys.executable, "-c", SESSION, tmp_path], capture_output=True, text=True)
    assert session.returncode == 0, session.stderr
