"""A process that has everything imported and forks a child for each coalface command, so that commands start at once.

``python -m benchmarks.fork_server`` reads one command per line, a JSON list of arguments. It writes the id of the child
that runs it; the output of the child follows.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class ForkServer:
    """The client of such a process; kill the children, because they outlive it."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "benchmarks.fork_server"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> int:
        """Start a command and return the id of its process."""
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def line(self) -> str:
        """The next line of output, which is the newest child's."""
        return self._process.stdout.readline()

    def kill(self, child: int) -> None:
        """Kill a child without warning, as a power cut would, and wait until it is gone."""
        os.kill(child, signal.SIGKILL)
        while _is_running(child):
            time.sleep(0.005)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _is_running(child: int) -> bool:
    try:
        os.kill(child, 0)
    except ProcessLookupError:
        return False
    return True


def _load() -> None:
    """Import what commands import, and compile or load the kernels they run."""
    import uvicorn  # noqa: F401

    from coalface.desk.project.project import Project
    from coalface.desk.service.desk import Desk
    from coalface.desk.web.service import service_of  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Project.create(Path(folder, "p"), [{"text": f"a{i} b"} for i in range(40)], ["x", "y"]))
        for number in range(20):
            question = desk.lease("ada")
            desk.answer("ada", question.id, question.lease_id, dict.fromkeys(question.labels, 0.5), str(number))
        desk.overview()
        desk.close()


def main() -> None:
    from coalface.cli import main as coalface

    _load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel removes dead children
    while line := sys.stdin.readline():
        if os.fork() == 0:
            print(os.getpid(), flush=True)
            os._exit(coalface(json.loads(line)))


if __name__ == "__main__":
    main()
