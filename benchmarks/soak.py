"""A long run at a low rate: does memory, open files or threads grow, does anything fail, do the counts agree?

``python -m benchmarks.soak [MINUTES [ANNOTATORS [EXAMPLES [ROWS_PER_SECOND]]]]``

Simulated annotators label over HTTP, and ``coalface train -`` learns VW text from a pipe. Every minute one line of CSV
shows both processes and compares the costs that the service has booked with those that it acknowledged. At the end, the
log must hold each acknowledged answer once, and the trained model must have seen every row.
"""

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np

from benchmarks.kill_inspection import all_events
from benchmarks.labelling_kills import Server
from benchmarks.labelling_load import Annotators, made
from benchmarks.streaming import N_LABELS, vw_lines
from coalface import CoalClassifier
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk

MINUTE = 60.0
PAUSE = 5.0  # mean seconds that an annotator thinks
BLOCK = 256  # rows that the learner reads at a time


class CountingAnnotators(Annotators):
    """Annotators who add up the costs that they sent and those that the service acknowledged."""

    sent = acknowledged = 0
    answers: Counter[str]

    async def _timed(self, what: str, client: httpx.AsyncClient, path: str, body: dict) -> dict | None:
        self.sent += len(body.get("costs", ()))
        receipt = await super()._timed(what, client, path, body)
        if receipt and what == "answer":
            self.acknowledged += len(body["costs"])
            self.answers[receipt["answer_id"]] += 1
        return receipt


class StreamLearner:
    """``coalface train -``, fed through a pipe."""

    def __init__(self, folder: Path, per_second: float) -> None:
        self.model, self.per_second, self.rows, self.end = folder / "stream.coal", per_second, 0, threading.Event()
        classes = ",".join(str(k + 1) for k in range(N_LABELS))
        train = ["train", "-", "--format", "vw", "--as-published", "--block", str(BLOCK), "--classes", classes]
        command = [sys.executable, "-c", "from coalface.cli import main; raise SystemExit(main())", *train]
        self.process = subprocess.Popen([*command, "--model", self.model], stdin=subprocess.PIPE, text=True)
        self.feeder = threading.Thread(target=self._feed)
        self.feeder.start()

    def _feed(self) -> None:
        draw, pipe = np.random.default_rng(0), self.process.stdin
        while not self.end.wait(1.0):
            lines = vw_lines(int(self.per_second), draw)
            pipe.writelines(lines)
            pipe.flush()
            self.rows += len(lines)

    def finish(self) -> int:
        """Close the pipe and return how many rows the model learned."""
        self.end.set()
        self.feeder.join()
        self.process.stdin.close()
        assert self.process.wait() == 0, "the learner failed"
        return CoalClassifier.load(self.model).round_ - 1


def vital_signs(process: int) -> dict[str, int]:
    """Private memory in KiB, open files and threads of a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    memory, threads = (int(status[name].split()[0]) for name in ("RssAnon", "Threads"))
    return {"KiB": memory, "files": len(list(Path(f"/proc/{process}/fd").iterdir())), "threads": threads}


def booked(address: str) -> tuple[int, int]:
    """Costs that the service has booked, and requests that it refused or failed."""
    headers = {"authorization": "Bearer coal_engineer"}
    lines = httpx.get(f"{address}/metrics", headers=headers, trust_env=False).raise_for_status().text.splitlines()
    costs = next(float(line.split()[-1]) for line in lines if line.startswith("coalface_answered_costs"))
    failed = [line for line in lines if line.startswith("coalface_requests_total") and 'status="2' not in line]
    return int(costs), int(sum(float(line.split()[-1]) for line in failed))


async def watch(people: CountingAnnotators, server: Server, learner: StreamLearner) -> list[dict[str, int]]:
    """One line per minute until the annotators end."""
    samples: list[dict[str, int]] = []
    begin = time.monotonic()
    while (now := time.monotonic()) < people.end:
        await asyncio.sleep(min(MINUTE, people.end - now))
        least = people.acknowledged
        costs, failed = await asyncio.to_thread(booked, server.address)
        sample = {"minute": round((time.monotonic() - begin) / 60), "costs": costs, "failed": failed}
        sample["disagree"] = int(not least <= costs <= people.sent)  # answers may be on their way
        sample["rows"] = learner.rows
        for name, process in (("service", server.process), ("learner", learner.process.pid)):
            sample |= {f"{name} {what}": value for what, value in vital_signs(process).items()}
        if not samples:
            print(*sample, sep=",")
        print(*sample.values(), sep=",", flush=True)
        samples.append(sample)
    return samples


def main(minutes: str = "60", annotators: str = "8", examples: str = "20000", rows: str = "100") -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = made(Path(folder, "tickets0"), int(examples), range(int(annotators)))
        store = Project.open(project).open_store()
        store.add_token("engineer", "engineer", "coal_engineer")
        store.close()
        server, learner = Server(project), StreamLearner(Path(folder), float(rows))
        server.start()
        people = CountingAnnotators(server.address, PAUSE, time.monotonic() + 60 * float(minutes), 1)
        people.answers = Counter()

        async def all_of_them() -> list[dict[str, int]]:
            work = (people.work(number) for number in range(int(annotators)))
            return (await asyncio.gather(watch(people, server, learner), *work))[0]

        try:
            samples = asyncio.run(all_of_them())
            costs, _ = booked(server.address)
        finally:
            server.kill()
            server.fork_server.close()
            learned = learner.finish()
        desk = Desk(Project.open(project))
        logged = [str(event.id) for event in all_events(desk) if event.kind == "answered"]
        desk.close()
    print(f"errors {len(people.errors)}, samples that disagree {sum(one['disagree'] for one in samples)}")
    print(f"costs: {people.acknowledged} acknowledged, {costs} booked")
    same = Counter(logged) == people.answers
    print(f"answers: {len(people.answers)} acknowledged, {len(logged)} logged, the same once each: {same}")
    print(f"stream: {learner.rows} rows written, {learned} learned")
    print(*people.errors[:3], sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
