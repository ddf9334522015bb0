"""Start-up times in fresh processes: imports, ``--help``, and the first result with and without compilation.

    python -m benchmarks.startup

Imports are measured in processor time, which a busy machine changes less; everything else in elapsed time.
"""

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure, Progress, at_most

_OURS = "from coalface import CoalClassifier"
_LEAST = "import sklearn.base, numba"
_PARTS = ("", "import numpy", "import numba", "import sklearn.base", _LEAST, "import coalface", _OURS)
_FIRST_RESULT = """
import numpy as np
from coalface import CoalClassifier, simulate
X = np.random.default_rng(0).random((200, 5), dtype=np.float32)
simulate(CoalClassifier(), X, cost=1.0 - np.eye(3)[X[:, :3].argmax(axis=1)], X_test=X, cost_test=np.zeros((200, 3)))
"""


def startup_figures(repeats: int, progress: Progress) -> Iterator[Figure]:
    progress("start-up")
    imports = import_seconds((_OURS, _LEAST, ""), repeats)
    yield Figure.of(
        "import / sklearn.base + numba",
        "",
        [ours / least for ours, least in zip(imports[_OURS], imports[_LEAST], strict=True)],
        "times",
        at_most(1.2),
        our_processor_seconds=median(imports[_OURS]),
        least_processor_seconds=median(imports[_LEAST]),
        bare_python_processor_seconds=median(imports[""]),
    )
    script = Path(sys.executable).with_name("coalface")
    if importlib.util.find_spec("coalface.cli") is not None and script.exists():
        _seconds([str(script), "--help"])
        times = [_seconds([str(script), "--help"]) for _ in range(repeats)]
        yield Figure.of("coalface --help", "", times, "seconds", at_most(0.3))
    with TemporaryDirectory() as folder:
        cold = _seconds(["-c", _FIRST_RESULT], NUMBA_CACHE_DIR=folder)
        warm = [_seconds(["-c", _FIRST_RESULT], NUMBA_CACHE_DIR=folder) for _ in range(min(repeats, 3))]
    yield Figure.of("first result after installation", "", [cold], "seconds")
    yield Figure.of("first result, compiled before", "", warm, "seconds")


def import_seconds(programs: tuple[str, ...], repeats: int) -> dict[str, list[float]]:
    """Processor seconds of each program in a process of its own, in turns; the first turn does not count."""
    for program in programs:
        _processor_seconds(program)  # byte code and disk cache
    turns = [[_processor_seconds(program) for program in programs] for _ in range(repeats)]
    return {program: list(taken) for program, taken in zip(programs, zip(*turns, strict=True), strict=True)}


def _processor_seconds(program: str) -> float:
    before = os.times()
    _seconds(["-c", program])
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _seconds(args: list[str], **environment: str) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *args],
        env={**os.environ, **environment},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return time.perf_counter() - began


def main() -> None:
    """Print the median processor time of each import, alone in a process."""
    for program, taken in import_seconds(_PARTS, repeats=10).items():
        print(f"{median(taken):6.2f} s  {program or 'python alone'}")


if __name__ == "__main__":
    main()
