"""The cache of machine code never goes stale, and the kernels work without it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import coalface

CALLEE = """
from coalface.kernels.compile import inlined

@inlined
def number():
    return {number}
"""
CALLER = """
from coalface.kernels.callee import number
from coalface.kernels.compile import kernel

@kernel
def answer():
    return number()
"""
PROGRAM = """
from coalface.kernels.caller import answer
print(answer(), sum(answer.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the kernels with one more kernel, and a function that runs it in a new process."""
    kernels = tmp_path / "coalface" / "kernels"
    kernels.mkdir(parents=True)
    for name in ("__init__.py", "doors.py", "long_work.py", "version.py"):
        shutil.copy(Path(coalface.__file__).with_name(name), tmp_path / "coalface")
    shutil.copy(Path(coalface.__file__).parent / "kernels" / "compile.py", kernels)
    (kernels / "__init__.py").write_text("")
    (kernels / "caller.py").write_text(CALLER)
    (kernels / "callee.py").write_text(CALLEE.format(number=1))

    def run(cache):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(cache)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return done.stdout.split()

    return kernels, run


def test_an_edit_in_a_called_file_is_noticed_and_an_unchanged_one_is_not_compiled_again(package, tmp_path):
    kernels, run = package
    cache = tmp_path / "cache"
    assert run(cache) == ["1", "0"]
    assert run(cache) == ["1", "1"]
    (kernels / "callee.py").write_text(CALLEE.format(number=2))
    assert run(cache) == ["2", "0"]
    (kernels / "callee.py").write_text(CALLEE.format(number=1))
    assert run(cache) == ["1", "1"]


def test_a_folder_that_cannot_be_written_only_costs_time(package, tmp_path):
    _, run = package
    (tmp_path / "file").write_text("in the way")
    assert run(tmp_path / "file" / "cache") == ["1", "0"]
    assert run(tmp_path / "file" / "cache") == ["1", "0"]


def test_a_damaged_cache_does_not_change_the_result(package, tmp_path):
    _, run = package
    cache = tmp_path / "cache"
    run(cache)
    for ending in ("*.nbi", "*.nbc"):
        for file in cache.rglob(ending):
            file.write_bytes(file.read_bytes()[:20])
        assert run(cache) == ["1", "0"]
        assert run(cache) == ["1", "1"]
