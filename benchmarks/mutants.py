"""Mutation testing: change one operator or constant of a module at a time, and list the changes that no test notices.

    python -m benchmarks.mutants coalface.rounds.ledger tests/rounds/test_jsonlines.py --seconds 300
    python -m benchmarks.mutants coalface.kernels.rules tests/kernels/test_rules.py

Every mutant runs in a fork of this process, which has run the tests once: in the fork, the functions of the module get
the code of the mutant. Kernels run as Python. Changes outside functions, such as of default values, are counted and
left out, and so are tests that fail without a mutation.
"""

import argparse
import ast
import copy
import gc
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

import numba
import pytest

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
SURVIVED, TIMED_OUT, OUTSIDE = 0, 99, 98
PYTEST = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow")
PYTEST += ("-W", "ignore::RuntimeWarning")  # kernels overflow silently, NumPy's scalars do not


def _not_compiled(function: Callable[..., object], **_: object) -> Callable[..., object]:
    """What stands for Numba's decorator: the Python function."""
    function.py_func = function  # type: ignore[attr-defined]
    return function


def places(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The nodes that can be changed, by their number in a walk, and which part of each."""
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield number, "ops"
        elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
            yield number, "op"
        elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
            yield number, "value"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield number, "operand"


def mutant(tree: ast.Module, number: int, part: str) -> tuple[ast.Module, str]:
    """The module with one change, and the change in words."""
    changed = copy.deepcopy(tree)
    node = next(node for at, node in enumerate(ast.walk(changed)) if at == number)
    before = ast.unparse(node)
    if part == "ops":
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif part == "op":
        node.op = SWAPS[type(node.op)]()
    elif part == "value":
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    else:
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    return ast.fix_missing_locations(changed), f"line {node.lineno}: {before}  ->  {ast.unparse(node)}"


def change_functions(module: str, code: ast.Module) -> bool:
    """Give the functions of an imported module the code of a mutant; False if the mutant changes none of them."""
    path = importlib.util.find_spec(module).origin  # type: ignore[union-attr]
    new = {found.co_qualname: found for found in _codes(compile(code, str(path), "exec"))}
    changed = False
    for function in [one for one in gc.get_objects() if isinstance(one, FunctionType) and one.__module__ == module]:
        found = new.get(function.__code__.co_qualname)
        if found is not None and found != function.__code__:
            function.__code__, changed = found, True
    return changed


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def run_tests(module: str, code: ast.Module | None, tests: list[str], seconds: float) -> int:
    """Pytest's exit code in a fork where the module has this code; TIMED_OUT if it takes too long."""
    child = os.fork()
    if child == 0:
        signal.alarm(int(seconds) + 1)
        if code is not None and not change_functions(module, code):
            os._exit(OUTSIDE)
        _silence()
        os._exit(int(pytest.main(["-x", *PYTEST, *tests])))
    _, status = os.waitpid(child, 0)
    return TIMED_OUT if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _silence() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1), os.dup2(null, 2)


def passing(module: str, tests: list[str]) -> tuple[list[str], int, float]:
    """What selects the given tests that pass without a mutation, their number, and how long they take together."""
    passed: list[str] = []
    failed: list[str] = []

    class Recorder:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call" and report.passed:
                passed.append(report.nodeid)
            elif report.failed:
                failed.append(report.nodeid)

    pytest.main([*PYTEST, *tests], [Recorder()])
    selected = [*tests, *(f"--deselect={name}" for name in failed)]
    begin = time.monotonic()
    assert run_tests(module, None, selected, 600) == SURVIVED, "the tests that passed must pass again"
    return selected, len(passed), time.monotonic() - begin


def main() -> None:
    """Run mutants in random order until the time is over, and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--start", type=int, default=0, help="leave out so many mutants, which an earlier call has run")
    given = parser.parse_args()
    if ".kernels." in given.module:
        numba.njit, numba.config.DISABLE_JIT = _not_compiled, True
    source = Path(importlib.util.find_spec("coalface").origin).parent.parent  # type: ignore[union-attr, arg-type]
    tree = ast.parse((source / f"{given.module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    found = list(places(tree))
    random.Random(0).shuffle(found)
    tests, n_tests, usual = passing(given.module, given.tests)
    print(f"{given.module}: {len(found)} mutants, {n_tests} tests in {usual:.1f} s", flush=True)
    begin, killed, outside, survived = time.monotonic(), 0, 0, []
    for number, part in found[given.start :]:
        if time.monotonic() - begin > given.seconds:
            break
        code, change = mutant(tree, number, part)
        result = run_tests(given.module, code, tests, 10 + 4 * usual)
        if result == SURVIVED:
            survived.append(change)
            print(f"  survived, {change}", flush=True)
        outside += result == OUTSIDE
        killed += result not in (SURVIVED, OUTSIDE)
    run = killed + len(survived)
    end = given.start + run + outside
    print(f"{given.module}: {killed} killed, {len(survived)} survived of {run} run, {outside} outside functions")
    print("all were run" if end >= len(found) else f"continue with --start {end}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
