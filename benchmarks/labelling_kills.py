"""Kills the labelling service again and again while annotators work, and counts the answers that were lost.

``python -m benchmarks.labelling_kills [KILLS [ANNOTATORS [DATABASE]]]``
"""

import random
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.fork_server import ForkServer
from coalface.service.desk.desk import Desk
from coalface.service.desk.messages import NoQuestion
from coalface.service.project.project import Project

LABELS = ("billing", "refund", "fraud", "delivery")
_WORDS = ["parcel", "money", "back", "late", "broken", "charged", "twice", "invoice", "stolen", "card", "wrong"]
_LEASE = 30.0  # seconds


@dataclass
class KillReport:
    """The answers that the service acknowledged, and the contents of the log after the last kill."""

    acknowledged: dict[str, str] = field(default_factory=dict)  # answer -> key
    logged: list[str] = field(default_factory=list)
    repeated: int = 0  # answers that are in the log more than once
    unfinished: int = 0  # examples that were asked about but are neither closed nor open
    same_model: bool = False
    problems: list[str] = field(default_factory=list)
    kills: int = 0


class Server:
    """``coalface serve`` in its own process; it keeps its port over restarts."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.process = folder, 0, 0
        self.fork_server = ForkServer()

    def start(self) -> None:
        serve = ["serve", str(self.folder), "--port", str(self.port), "--per-minute", "1e9"]
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


class Annotator(threading.Thread):
    """Sends every request again, with the same key, until it is answered."""

    def __init__(self, number: int, server: Server, report: KillReport, end: threading.Event) -> None:
        super().__init__()
        self.number, self.server, self.report, self.end = number, server, report, end
        self.draw = random.Random(number)

    def run(self) -> None:
        headers = {"authorization": f"Bearer coal_{self.number}"}
        with httpx.Client(base_url=self.server.address, headers=headers, timeout=10.0, trust_env=False) as client:
            while not self.end.is_set():
                found = self._until_answered(client, "queries:lease", {"ttl_s": _LEASE})
                query = found["queries"][0] if found["queries"] else None
                if query is None:
                    time.sleep(0.2)
                while query is not None:
                    query = self._answer(client, query)

    def _answer(self, client: httpx.Client, query: dict) -> dict | None:
        costs = {label: round(self.draw.random(), 3) for label in query["labels"]}
        if self.draw.random() < 0.1:
            costs[query["labels"][0]] = None
        body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": costs, "lead_time_s": 1.0}
        key = secrets.token_hex(8)
        time.sleep(self.draw.random() * 0.05)
        receipt = self._until_answered(client, "answers", body, {"Idempotency-Key": key})
        if "answer_id" not in receipt:
            return None
        self.report.acknowledged[receipt["answer_id"]] = key
        return receipt["follow_up"]

    def _until_answered(self, client: httpx.Client, what: str, body: dict, headers: dict | None = None) -> dict:
        while True:
            try:
                answer = client.post(f"/api/v1/projects/tickets/{what}", json=body, headers=headers)
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            if not answer.is_success:
                self.report.problems.append(f"{what}: {answer.status_code} {answer.text}")
                return {"queries": []}
            return answer.json()


def kill_repeatedly(
    folder: Path, kills: int = 20, annotators: int = 20, database: str | None = None, longest: float = 1.8
) -> KillReport:
    """Kill the service ``kills`` times, each time after at most ``longest`` seconds, and report what is left."""
    draw = random.Random(0)
    examples = [{"id": str(i), "text": " ".join(draw.choices(_WORDS, k=8))} for i in range(40 * (kills + 2) * 5)]
    more = {} if database is None else {"database": database}
    project = Project.create(folder / "tickets", examples, LABELS, **more)
    store = project.open_store()
    for number in range(annotators):
        store.add_token(str(number), "engineer" if number == 0 else "annotator", f"coal_{number}")
    store.close()
    found, end, server = KillReport(), threading.Event(), Server(project.folder)
    server.start()
    threads = [Annotator(number, server, found, end) for number in range(annotators)]
    for one in threads:
        one.start()
    for _ in range(kills):
        time.sleep(longest * (0.2 + 0.8 * draw.random()))
        server.kill()
        found.kills += 1
        server.start()
    end.set()
    for one in threads:
        one.join()
    headers = {"authorization": "Bearer coal_0"}
    export = f"{server.address}/api/v1/projects/tickets/exports/model"
    live = httpx.get(export, headers=headers, trust_env=False, timeout=60.0).raise_for_status().content
    server.kill()
    server.fork_server.close()
    _inspect(project, found, live)
    return found


def _inspect(project: Project, found: KillReport, live: bytes) -> None:
    """Reopen the project, compare it with the killed one, and answer the rest to check that no question is lost."""
    clock = time.time() + 10 * _LEASE  # every lease has expired
    desk = Desk(project, clock=lambda: clock)
    try:
        found.same_model = b"".join(desk.export("model")) == live
        events = _all_events(desk)
        answered = [event for event in events if event.kind == "answered"]
        found.logged = [str(event.id) for event in answered]
        whose = Counter((event.who, event.body["question"], event.body["step"]) for event in answered)
        found.repeated = sum(count - 1 for count in whose.values())
        asked = {event.body["example_id"] for event in events if event.kind == "asked"}
        closed = {event.body["example_id"] for event in events if event.kind == "closed"}
        waiting = asked - closed
        for turn in range(10 * len(waiting)):
            question = desk.lease("finisher")
            if isinstance(question, NoQuestion) or not waiting:
                break
            while question is not None:
                costs = dict.fromkeys(question.labels, 0.5)
                receipt = desk.answer("finisher", question.id, question.lease_id, costs, f"{turn} {question.id}")
                waiting.discard(question.example_id)
                question = receipt.follow_up
        passed = {name for event in _all_events(desk) if event.kind == "passed" for name in event.body["examples"]}
        places = {project.pool.place(name) for name in waiting}
        found.unfinished = len(places - passed)
    finally:
        desk.close()


def _all_events(desk: Desk) -> list:
    events: list = []
    while more := desk.events(after=events[-1].id if events else 0, limit=1000):
        events += more
    return events


def main(kills: str = "20", annotators: str = "20", database: str | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = kill_repeatedly(Path(folder), int(kills), int(annotators), database)
    lost = set(found.acknowledged) - set(found.logged)
    print(
        f"{found.kills} kills under {annotators} annotators: {len(found.acknowledged)} answers acknowledged, "
        f"{len(lost)} of them lost, {found.repeated} twice in the log, {len(found.logged)} in the log; questions lost: "
        f"{found.unfinished}; the reopened model equals the live one: {found.same_model}; refusals: "
        f"{len(found.problems)}"
    )
    print(*found.problems[:5], sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
