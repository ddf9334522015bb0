"""Kills the labelling service again and again while people work, and counts what was lost or counted twice.

``python -m benchmarks.labelling_kills [KILLS [ANNOTATORS [DATABASE [PROJECTS]]]]``

Annotators answer, also ahead, skip and flag; a curator adds, corrects and retires examples in every project.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx

from benchmarks.fork_server import ForkServer
from benchmarks.kill_crew import LABELS, Annotator, Crew, Curator
from benchmarks.kill_inspection import KillReport, inspect
from coalface.desk.project.project import Project

_WORDS = ["parcel", "money", "back", "late", "broken", "charged", "twice", "invoice", "stolen", "card", "wrong"]


class Server:
    """``coalface serve`` in its own process; it keeps its port over restarts."""

    def __init__(self, *folders: Path, options: tuple[str, ...] = ()) -> None:
        self.folders, self.options, self.port, self.process = folders, options, 0, 0
        self.fork_server = ForkServer()

    def start(self) -> None:
        serve = ["serve", *map(str, self.folders), "--port", str(self.port), "--per-minute", "1e9"]
        serve += ["--log-level", "error", *self.options]
        self.process = self.fork_server.run(*serve)
        while "http://" not in (line := self.fork_server.line()):
            assert line, "the server did not start"
        self.port = int(line.split("http://")[1].split()[0].rsplit(":", 1)[1])
        while not self._answers():
            time.sleep(0.02)

    def kill(self) -> None:
        self.fork_server.kill(self.process)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.address}/login", trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def kill_repeatedly(
    folder: Path,
    kills: int = 20,
    annotators: int = 20,
    databases: Sequence[str | None] = (None,),
    longest: float = 1.8,
    restart_database: Callable[[], None] | None = None,
) -> KillReport:
    """Kill the service ``kills`` times, at most ``longest`` seconds after some work is done; report what is left.

    There is a project for each of the databases, None for a file. After every second kill, the databases restart while
    the service runs, if ``restart_database`` is given.
    """
    draw = random.Random(0)
    projects = [
        _made(folder / f"tickets{k}", database, annotators, 40 * (kills + 2) * 5, draw)
        for k, database in enumerate(databases)
    ]
    server, restarts = Server(*(project.folder for project in projects)), 0
    server.start()
    crew = Crew(server, [project.name for project in projects])
    threads = [Annotator(number, crew) for number in range(1, annotators)]
    threads += [Curator(project.name, crew) for project in projects]
    for one in threads:
        one.start()
    for number in range(kills):
        _wait_for_work(crew, annotators)
        time.sleep(longest * (0.2 + 0.8 * draw.random()))
        server.kill()
        server.start()
        if restart_database is not None and number % 2:
            restart_database()
            restarts += 1
    crew.end.set()
    for one in threads:
        one.join()
    live = [_exported_model(server, project) for project in projects]
    server.kill()
    server.fork_server.close()
    return inspect(projects, crew, live, kills, restarts)


def _wait_for_work(crew: Crew, wanted: int) -> None:
    """Wait until the service has acknowledged so many more changes: a busy machine starts it slowly."""
    enough, deadline = len(crew.changes) + wanted, time.monotonic() + 120.0
    while len(crew.changes) < enough and time.monotonic() < deadline:
        time.sleep(0.02)


def _made(folder: Path, database: str | None, annotators: int, n: int, draw: random.Random) -> Project:
    examples = [{"id": str(i), "text": " ".join(draw.choices(_WORDS, k=8))} for i in range(n)]
    more = {} if database is None else {"database": database}
    project = Project.create(folder, examples, LABELS, **more)
    store = project.open_store()
    for number in range(annotators):
        store.add_token(str(number), "engineer" if number == 0 else "annotator", f"coal_{number}")
    store.close()
    return project


def _exported_model(server: Server, project: Project) -> bytes:
    headers = {"authorization": "Bearer coal_0"}
    path = f"{server.address}/api/v1/projects/{project.name}/exports/model"
    return httpx.get(path, headers=headers, trust_env=False, timeout=60.0).raise_for_status().content


def main(kills: str = "20", annotators: str = "20", database: str = "", projects: str = "2") -> None:
    databases = [database.format(k) or None for k in range(int(projects))]  # {} stands for the number of the project
    with tempfile.TemporaryDirectory() as folder:
        found = kill_repeatedly(Path(folder), int(kills), int(annotators), databases)
    print(f"{annotators} annotators on {projects} projects; {found.in_words()}")
    print(*found.problems[:5], sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
