"""A Dask cluster for benchmarks and tests: a scheduler and two workers, which listen on this machine only."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import peak_bytes


class Cluster:
    """The processes of a cluster; its workers have one thread each."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--port", "0")
        self.address = self._address()
        self.workers = [self._worker() for _ in range(2)]

    def wait_for(self, n: int) -> None:
        """Wait until the cluster has this many workers."""
        with self._client() as client:
            client.wait_for_workers(n, timeout=60)

    def kill_worker(self) -> int:
        """Kill the oldest worker with SIGKILL; returns its exit code."""
        victim = self.workers.pop(0)
        victim.kill()
        return victim.wait()

    def add_worker(self) -> None:
        """Start another worker."""
        self.workers.append(self._worker())

    def peaks(self) -> list[int]:
        """The peak memory of each worker, in MiB."""
        with self._client() as client:
            return [(peak or 0) // 2**20 for peak in client.run(peak_bytes).values()]

    def stop(self) -> None:
        for process in self._processes[::-1]:
            process.kill()
            process.wait()

    def _client(self) -> Any:
        from distributed import Client

        return Client(self.address, timeout="30s", set_as_default=False)

    def _worker(self) -> "subprocess.Popen[bytes]":
        return self._start("worker", "--no-nanny", "--nthreads", "1")

    def _start(self, part: str, *options: str) -> "subprocess.Popen[bytes]":
        given = (*options, "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self._file))
        environment = {**os.environ, "DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(message)s", "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", part, *given],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=self._file.parent,
        )
        self._processes.append(process)
        return process

    def _address(self) -> str:
        for _ in range(300):
            if self._file.exists() and self._file.read_text().endswith("}"):
                return str(json.loads(self._file.read_text())["address"])
            time.sleep(0.1)
        raise TimeoutError("the scheduler did not start")
