"""No folder below the learner uses a learner, not even one that is passed in without a type."""

import ast
from pathlib import Path

import pytest

import coalface

ROOT = Path(coalface.__file__).parent
BELOW = ("errors.py", "files", "kernels", "data", "rounds", "models")
OF_A_LEARNER = {"ask", "interview", "partial_fit", "tell", "tell_rounds"}
OWN = ("self", "super()", "self._online", "self.alone")  # a model asks and tells itself, a committee its members


def uses_of_learners(source):
    """The line of every parameter called learner, and of every call, with arguments, of a method of learners."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg) and node.arg == "learner":
            yield f"line {node.lineno}: the parameter {node.arg}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (node.args or node.keywords):
            receiver, name = ast.unparse(node.func.value), node.func.attr
            if name in OF_A_LEARNER and receiver not in OWN:
                yield f"line {node.lineno}: {receiver}.{name}"


@pytest.mark.parametrize("folder", BELOW)
def test_nothing_below_the_learner_uses_one(folder):
    place = ROOT / folder
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    assert files
    found = [f"{file.relative_to(ROOT)}, {use}" for file in files for use in uses_of_learners(file.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "def interview(learner: Any, X: Any) -> None:\n    rows = learner._rows(X)\n",
        "def interview(person: Any, X: Any) -> None:\n    person.tell(X, person.ask(X))\n",
    ],
)
def test_a_call_through_any_is_found(source):
    assert list(uses_of_learners(source))
