"""Start-up times in fresh processes: imports, ``--help``, and the first result with and without compilation."""

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
_FIRST_RESULT = """
import numpy as np
from coalface import CoalClassifier, simulate
X = np.random.default_rng(0).random((200, 5), dtype=np.float32)
simulate(CoalClassifier(), X, cost=1.0 - np.eye(3)[X[:, :3].argmax(axis=1)], X_test=X, cost_test=np.zeros((200, 3)))
"""


def startup_figures(repeats: int, progress: Progress) -> Iterator[Figure]:
    progress("start-up")
    for code in (_OURS, _LEAST):
        _seconds(["-c", code])  # byte code and disk cache
    pairs = [(_seconds(["-c", _OURS]), _seconds(["-c", _LEAST])) for _ in range(repeats)]
    yield Figure.of(
        "import / sklearn.base + numba",
        "",
        [ours / least for ours, least in pairs],
        "times",
        at_most(1.2),
        our_seconds=median(ours for ours, _ in pairs),
        least_seconds=median(least for _, least in pairs),
        bare_python_seconds=median(_seconds(["-c", ""]) for _ in range(repeats)),
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
