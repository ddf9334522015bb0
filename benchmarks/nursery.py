"""A process that has loaded everything and lets commands of coalface be born from it, each in no time.

``python -m benchmarks.nursery`` reads a command per line, a JSON list of arguments, and writes the number of the
process that runs it; what that one writes comes after.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Nursery:
    """Such a process, from outside; children outlive it only until they are killed."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "benchmarks.nursery"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> int:
        """Begin a command; the number of its process."""
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def line(self) -> str:
        """What the newest child has written."""
        return self._process.stdout.readline()

    def kill(self, child: int) -> None:
        """End a child as a power cut would, and wait until it is gone."""
        os.kill(child, signal.SIGKILL)
        while _lives(child):
            time.sleep(0.005)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _lives(child: int) -> bool:
    try:
        os.kill(child, 0)
    except ProcessLookupError:
        return False
    return True


def _load() -> None:
    """Import what commands import, and compile or load what they run."""
    import uvicorn  # noqa: F401

    from coalface.service.desk.desk import Desk
    from coalface.service.project.project import Project
    from coalface.service.web.service import service_of  # noqa: F401

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
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the dead
    while line := sys.stdin.readline():
        if os.fork() == 0:
            print(os.getpid(), flush=True)
            os._exit(coalface(json.loads(line)))


if __name__ == "__main__":
    main()
