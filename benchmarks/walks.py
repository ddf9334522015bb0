"""``python -m benchmarks.walks``: how many source files one action passes through, and how often it changes file.

A profiler notes every call of a function whose source lies in the package, in all threads. A switch is a call into
another file than the call before it; ``--returns`` also counts returns. Compiled kernels are not visible. Each
action runs several times before it is measured, so imports and compilation are not part of a walk.
"""

import argparse
import asyncio
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import httpx
import numpy as np

# All names of the package that this file depends on.
import coalface
from coalface import CoalClassifier, MemoryLedger
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.web.service import service_of
from coalface.studies import Study, run_sweep

ROOT = f"{Path(coalface.__file__).parent.as_posix()}/"
LABELS, STUDY = ["refund", "delivery", "other"], 'data = ["digits"]\npermutations = 1\n[lines.coal]'


class Walk:
    """The files of the package in the order in which one action runs code in them."""

    def __init__(self) -> None:
        self.measuring = False
        self.calls: list[str] = []
        self.steps: list[str] = []  # calls and returns

    @contextmanager
    def measured(self) -> Iterator[None]:
        self.calls, self.steps, self.measuring = [], [], True
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)
            self.measuring = False

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        if not self.measuring or event not in ("call", "return") or not frame.f_code.co_filename.startswith(ROOT):
            return
        place = frame if event == "call" else frame.f_back
        while place is not None and not place.f_code.co_filename.startswith(ROOT):  # skip the frames of other libraries
            place = place.f_back
        file = [] if place is None else [place.f_code.co_filename.removeprefix(ROOT)]
        self.steps += file
        self.calls += file if event == "call" else []

    def folders(self) -> str:
        """The folders in the order in which they are first entered, and how often each is entered."""
        entered = [file.split("/")[0] for file in self.calls]
        times = Counter(now for before, now in pairwise(["", *entered]) if now != before)
        return " > ".join(f"{folder} {times[folder]}" for folder in dict.fromkeys(entered))


def learner_walks(walk: Walk) -> Iterator[str]:
    """Actions on one row by a learner that has learned sixty, without and with a ledger."""
    rng = np.random.default_rng(0)
    X, cost, row, told = rng.random((60, 5)), rng.random((60, 3)), rng.random((1, 5)), rng.random((1, 3))
    alone, recorded = CoalClassifier(LABELS), CoalClassifier(LABELS).record_to(MemoryLedger())
    for learner in (alone, recorded):
        for i in range(60):
            learner.tell(X[i : i + 1], cost[i : i + 1], asked=learner.ask(X[i : i + 1]))
            learner.predict(row)
    for name, look in (("ask", alone.ask), ("predict", alone.predict)):
        with walk.measured():
            look(row)
        yield name
    for name, learner in (("tell", alone), ("tell, ledger", recorded)):
        with walk.measured():
            learner.tell(row, told)
        yield name


async def answer_over_http(walk: Walk, folder: str) -> None:
    """The last of several answers that each close an example and teach the model."""
    examples = [{"id": str(i), "text": f"parcel {i % 7} money {i % 3}"} for i in range(100)]
    desk = Desk(Project.create(f"{folder}/mail", examples, LABELS))
    desk.access.add_token("ada", "annotator", "coal_ada")
    address, token = "http://here/api/v1/projects/mail", {"authorization": "Bearer coal_ada"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(service_of(desk)), headers=token) as client:
        for number in range(20):
            query = (await client.post(f"{address}/queries:lease", json={})).json()["queries"][0]
            costs = {label: float(label != "refund") for label in query["labels"]}
            body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": costs}
            with walk.measured():
                receipt = await client.post(f"{address}/answers", json=body, headers={"idempotency-key": str(number)})
            assert receipt.json()["follow_up"] is None
    desk.close()


class MeasuringExecutor(Executor):
    """Runs a cell twice in the calling thread and measures the second run."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        function(*args, **kwargs)
        with self.walk.measured():
            future.set_result(function(*args, **kwargs))
        return future


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.walks", description=__doc__)
    parser.add_argument("--path", action="store_true", help="also print the folders each action enters, in order")
    parser.add_argument("--returns", action="store_true", help="also count returns to a caller as switches")
    options = parser.parse_args(arguments)
    walk, paths = Walk(), [""]

    def show(action: str) -> None:
        switches = sum(before != now for before, now in pairwise(walk.steps if options.returns else walk.calls))
        print(f"{action:<16} {len(set(walk.calls)):>5} {switches:>8}", flush=True)
        paths.append(f"{action}: {walk.folders()}")

    threading.setprofile(walk.note)  # before any thread of the service begins
    print(f"{'action':<16} files switches")
    for action in learner_walks(walk):
        show(action)
    with TemporaryDirectory() as folder:
        asyncio.run(answer_over_http(walk, folder))
        show("answer over HTTP")
        run_sweep(Study.from_toml(STUDY), f"{folder}/sweep", MeasuringExecutor(walk))
        show("sweep cell")
    if options.path:
        print(*paths, sep="\n")


if __name__ == "__main__":
    main()
