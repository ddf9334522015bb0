"""People who work on while their service is killed: each request is sent again, with the same key."""

import itertools
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import httpx

LABELS = ("billing", "refund", "fraud", "delivery")
LEASE = 30.0  # seconds
_COME_AGAIN = 503  # the database is away


class Address(Protocol):
    """Where the service is."""

    @property
    def address(self) -> str: ...


class Crew:
    """What all of them share: the service, and the changes that it has acknowledged."""

    def __init__(self, server: Address, projects: Sequence[str]) -> None:
        self.server, self.projects, self.end = server, projects, threading.Event()
        self.changes: list[tuple[str, ...]] = []  # project, kind and what identifies the change
        self.problems: list[str] = []
        self.again: Counter[str] = Counter()  # how often requests were sent again, and why


class Worker(threading.Thread):
    """One person."""

    def __init__(self, name: str, crew: Crew) -> None:
        super().__init__()
        self.who, self.crew, self.draw = name, crew, random.Random(name)
        headers = {"authorization": f"Bearer coal_{name}"}
        self.client = httpx.Client(base_url=crew.server.address, headers=headers, timeout=10.0, trust_env=False)

    def send(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """The reply to a request that is sent until it is answered; None if it is refused."""
        headers = {"Idempotency-Key": secrets.token_hex(8)}
        while True:
            try:
                reply = self.client.post(f"/api/v1/{path}", json=body, headers=headers)
            except httpx.TransportError as error:
                self.crew.again[type(error).__name__] += 1
                time.sleep(0.1)
                continue
            if reply.status_code == _COME_AGAIN:
                self.crew.again["503"] += 1
                time.sleep(0.1)
                continue
            if not reply.is_success:
                self.crew.problems.append(f"{path}: {reply.status_code} {reply.text}")
                return None
            return (reply.json() if reply.content else {}) | {"key": headers["Idempotency-Key"]}

    def done(self, *change: str) -> None:
        self.crew.changes.append(change)


class Annotator(Worker):
    """Answers, also ahead of the questions, skips and flags."""

    def __init__(self, number: int, crew: Crew) -> None:
        super().__init__(str(number), crew)

    def run(self) -> None:
        with self.client:
            while not self.crew.end.is_set():
                project = self.draw.choice(self.crew.projects)
                found = self.send(f"projects/{project}/queries:lease", {"ttl_s": LEASE})
                query = found["queries"][0] if found and found["queries"] else None
                if query is None:
                    time.sleep(0.2)
                while query is not None:
                    query = self._dealt_with(project, query)

    def _dealt_with(self, project: str, query: dict) -> dict | None:
        time.sleep(self.draw.random() * 0.05)
        lease, number = query["lease_id"], query["id"].partition(".")[0]
        if self.draw.random() < 0.15:
            note = secrets.token_hex(4)
            if self.send(f"leases/{lease}:flag", {"note": note}) is not None:
                self.done(project, "flagged", self.who, note)
        if self.draw.random() < 0.1:
            if self.send(f"leases/{lease}:skip", {}) is not None:
                self.done(project, "skipped", self.who, number, query["example_id"])
            return None
        return self._answer(project, query)

    def _answer(self, project: str, query: dict) -> dict | None:
        ahead = [label for label, _ in query["later"][: self.draw.choice([0, 1, 3])]]
        costs = {label: round(self.draw.random(), 3) for label in [*query["labels"], *ahead]}
        if self.draw.random() < 0.1:
            costs[query["labels"][0]] = None
        body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": costs, "ahead": ahead}
        receipt = self.send(f"projects/{project}/answers", body)
        if receipt is None:
            return None
        self.done(project, "answered", receipt["answer_id"], str(len(ahead)))
        return receipt["follow_up"]


class Curator(Worker):
    """Adds examples to a project, corrects and retires some."""

    def __init__(self, project: str, crew: Crew) -> None:
        super().__init__("0", crew)
        self.project, self.draw = project, random.Random(project)

    def run(self) -> None:
        with self.client:
            for number in itertools.count():
                if self.crew.end.wait(0.1):
                    return
                names = [f"new-{number}-{k}" for k in range(3)]
                new = [{"id": name, "text": f"parcel {name} is late"} for name in names]
                if self.send(f"projects/{self.project}/examples", {"examples": new, "first": True}) is not None:
                    self.done(self.project, "added", *names)
                    self._retire(names[0])
                self._correct(names[1] if number % 2 else str(self.draw.randrange(200)))

    def _retire(self, name: str) -> None:
        if self.send(f"projects/{self.project}/examples:retire", {"ids": [name], "reason": "a trial"}) is not None:
            self.done(self.project, "retired", name)

    def _correct(self, name: str) -> None:
        body = {"example_id": name, "label": self.draw.choice(LABELS), "reason": "a trial"}
        receipt = self.send(f"projects/{self.project}/corrections", body)
        if receipt is not None:
            self.done(self.project, "corrected", name, f"0:{receipt['key']}")
