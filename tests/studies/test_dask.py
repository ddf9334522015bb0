"""A sweep on a real Dask cluster: a scheduler and two worker processes, talking over TCP."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from coalface.studies.executors import DaskExecutor
from coalface.studies.sweep import run_sweep

from .studies import LINES, lines_of, numbers_of, small_study

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
# Whole passes over the digits: long enough for a worker to die in the middle of one.
STUDY = small_study(permutations=4, data='["digits"]', lines=LINES.replace("[0.1, 0.3]", "[0.1, 0.2, 0.3]"))


class Cluster:
    """The processes of a cluster; everything listens on this machine only."""

    def __init__(self, folder):
        self._file = folder / "scheduler.json"
        self._processes = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file")
        self.address = self._address()
        self.workers = [self._worker() for _ in range(2)]

    def _worker(self):
        options = ("--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file")
        return self._start("worker", *options)

    def _start(self, part, *options):
        command = [sys.executable, "-m", "dask", part, *options, str(self._file)]
        environment = {**os.environ, "DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(message)s"}
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=self._file.parent
        )
        self._processes.append(process)
        return process

    def _address(self):
        for _ in range(300):
            if self._file.exists() and self._file.read_text().endswith("}"):
                return json.loads(self._file.read_text())["address"]
            time.sleep(0.1)
        raise TimeoutError("the scheduler did not start")

    def stop(self):
        for process in self._processes[::-1]:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    run_sweep(STUDY, folder, "threads", 2)
    return numbers_of(folder)


@pytest.mark.parametrize("by", ["path", "scattering"])
def test_a_worker_killed_in_the_middle_loses_no_cell_and_doubles_none(cluster, undisturbed, tmp_path, by, monkeypatch):
    if by == "scattering":  # as on machines that do not see our files
        monkeypatch.setattr("coalface.studies.executors.os.path.isdir", lambda _: False)
    killed, travelled = [], []
    share = DaskExecutor.share
    monkeypatch.setattr(DaskExecutor, "share", lambda *given: travelled.append(share(*given)) or travelled[-1])

    def kill_one(done, total, failed):
        if done == len(undisturbed) // 3:
            cluster.workers[0].send_signal(signal.SIGKILL)
            killed.append(cluster.workers[0].wait())

    _wait_for_workers(cluster)
    outcome = run_sweep(STUDY, tmp_path / "out", f"dask://{cluster.address}", progress=kill_one)
    assert killed == [-signal.SIGKILL]
    assert [isinstance(shared, str) for shared in travelled] == [by == "path"]
    assert (outcome.finished, outcome.failed) == (STUDY.n_cells, 0)
    assert numbers_of(tmp_path / "out") == undisturbed
    assert sorted(lines_of(tmp_path / "out")) == sorted(undisturbed)


def _wait_for_workers(cluster):
    for _ in range(100):
        client = DaskExecutor(cluster.address)
        client.close()
        if client.n_workers == 2:
            return
        time.sleep(0.1)
    raise TimeoutError("the workers did not start")
