"""The machine that runs the benchmarks: pinning to one core, clocks, copy bandwidth, peak memory."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_COPIED_BYTES = 2**28
_ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Seconds:
    """``wall`` on the clock, ``cpu`` of all threads, ``thread`` of the calling thread alone."""

    wall: float
    cpu: float
    thread: float

    def less(self, other: "Seconds") -> "Seconds":
        """The difference, for example without start-up; at least a microsecond."""
        return Seconds(
            max(self.wall - other.wall, 1e-6), max(self.cpu - other.cpu, 1e-6), max(self.thread - other.thread, 1e-6)
        )


def timed(work: Callable[[], Any]) -> tuple[Seconds, Any]:
    """How long ``work`` takes, and what it returns."""
    wall, cpu, thread = time.perf_counter(), time.process_time(), time.thread_time()
    result = work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu, time.thread_time() - thread), result


def use_one_core() -> int | None:
    """Pin this process and its children to one core; its number, or None if the system cannot pin."""
    for name in _ONE_THREAD:
        os.environ[name] = "1"
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def run_python(args: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter that can import this package; an error shows its output."""
    done = subprocess.run([sys.executable, *args], cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"python {' '.join(args)} failed:\n{done.stderr[-2000:]}")
    return done


@cache
def copy_bandwidth(repeats: int = 20) -> float:
    """Bytes read plus bytes written per second by the fastest of several copies of a large array, measured once.

    Other load can make a copy several times slower, hence the fastest. A model that fits into the caches can be read
    faster than that.
    """
    source, target = np.ones(_COPIED_BYTES // 8), np.zeros(_COPIED_BYTES // 8)
    fastest = min(timed(lambda: np.copyto(target, source))[0].wall for _ in range(repeats))
    return 2 * _COPIED_BYTES / fastest


def peak_bytes(*, reset: bool = False) -> int | None:
    """The most memory this process has had, from now on if ``reset``; None if the system does not say."""
    status, counter = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not (status.exists() and counter.exists()):
        return None
    if reset:
        counter.write_text("5")
    lines = status.read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)


def description(core: int | None) -> dict[str, Any]:
    """The machine and the Python version, for the report."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "pinned_to_core": core,
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
