"""How long annotators wait: many simulated people with pauses, and the service on the same machine.

``python -m benchmarks.labelling_load [ANNOTATORS [EXAMPLES [SECONDS [PAUSE [PROJECTS [DISTURBED]]]]]]``

The examples are shared out over the projects of one service. If DISTURBED is 1, slow clients hold 920 half-open
connections, and a webhook receiver takes messages and never answers.
"""

import asyncio
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np

from benchmarks.labelling_kills import Server
from coalface.desk.project.project import Project
from coalface.desk.web.webhooks import new_secret

N_LABELS, N_WORDS, LENGTH = 50, 20_000, 12
RAMP = 30.0  # seconds until all annotators have started
PATH = "/api/v1/projects/tickets"  # and the number of the project


def texts(n: int) -> Iterator[dict[str, str]]:
    """Generated texts: words with skewed frequencies, and two that reveal the label."""
    draw = random.Random(1)
    for i in range(n):
        label = draw.randrange(N_LABELS)
        words = [f"w{int(N_WORDS * draw.random() ** 3)}" for _ in range(LENGTH)]
        words += [f"topic{label}x{draw.randrange(5)}" for _ in range(2)]
        yield {"id": str(i), "text": " ".join(words)}


def true_cost(text: str, label: str) -> float:
    """0 for the label of the text, 1 for the others of its group of ten, 2 for the rest."""
    about = int(text.split("topic")[1].split("x")[0])
    given = int(label)
    return 0.0 if about == given else 1.0 if about // 10 == given // 10 else 2.0


class Annotators:
    """All annotators in one event loop, and their waiting times."""

    def __init__(self, address: str, pause: float, end: float, projects: int) -> None:
        self.address, self.pause, self.end, self.projects = address, pause, end, projects
        self.waits: dict[str, list[float]] = {"next question": [], "answer": []}
        self.errors: list[str] = []

    async def work(self, number: int) -> None:
        draw, path = random.Random(number), f"{PATH}{number % self.projects}"
        headers = {"authorization": f"Bearer coal_{number}"}
        about = {"base_url": self.address, "headers": headers, "timeout": 60.0, "trust_env": False}
        async with httpx.AsyncClient(
            verify=False, **about
        ) as client:  # loading certificates takes 30 ms, which is not the server's
            await asyncio.sleep(draw.random() * RAMP)
            while time.monotonic() < self.end:
                found = await self._timed("next question", client, f"{path}/queries:lease", {})
                query = found["queries"][0] if found and found["queries"] else None
                while query is not None and time.monotonic() < self.end:
                    await asyncio.sleep(draw.expovariate(1.0 / self.pause))
                    costs = {label: true_cost(query["content"]["text"], label) for label in query["labels"]}
                    body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": costs}
                    receipt = await self._timed("answer", client, f"{path}/answers", body)
                    query = receipt and receipt["follow_up"]

    async def _timed(self, what: str, client: httpx.AsyncClient, path: str, body: dict) -> dict | None:
        begin = time.perf_counter()
        try:
            answer = await client.post(path, json=body, headers={"Idempotency-Key": secrets.token_hex(8)})
        except httpx.TransportError as error:
            self.errors.append(repr(error))
            return None
        self.waits[what].append(time.perf_counter() - begin)
        if not answer.is_success:
            self.errors.append(f"{answer.status_code} {answer.text}")
            return None
        return answer.json()


def made(folder: Path, n: int, share: range) -> Path:
    """A project of ``n`` texts whose annotators are those of the share."""
    labels = [str(k) for k in range(N_LABELS)]
    project = Project.create(folder, texts(n), labels, cost_bounds=(0.0, 2.0))
    store = project.open_store()
    for number in share:
        store.add_token(str(number), "annotator", f"coal_{number}")
    store.close()
    return project.folder


class Disturbance:
    """Slow clients and a webhook receiver that hangs, until it is closed."""

    def __init__(self) -> None:
        self.receiver = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.receiver.getsockname()[1]
        self.clients: subprocess.Popen[bytes] | None = None

    def begin(self, port: int) -> None:
        """Start the slow clients in a process of their own, or they would slow the people who are measured."""
        self.clients = subprocess.Popen([sys.executable, "-m", "benchmarks.half_open", str(port)])

    def close(self) -> None:
        if self.clients is not None:
            self.clients.kill()
            self.clients.wait()
        self.receiver.close()


def main(
    annotators: str = "200",
    examples: str = "100000",
    seconds: str = "60",
    pause: str = "5",
    projects: str = "1",
    disturbed: str = "0",
) -> None:
    n, disturbance = int(projects), Disturbance() if int(disturbed) else None
    options = () if disturbance is None else ("--webhook", f"http://127.0.0.1:{disturbance.port}/")
    os.environ["COALFACE_WEBHOOK_SECRET"] = new_secret()
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        folders = [
            made(Path(folder) / f"tickets{k}", int(examples) // n, range(k, int(annotators), n)) for k in range(n)
        ]
        created = time.perf_counter()
        server = Server(*folders, options=options)
        server.start()
        started = time.perf_counter()
        times = f"created in {created - begin:.0f} s, serving after {started - created:.1f} s"
        print(f"{int(examples):,} texts in {n} projects, {N_LABELS} labels: {times}", flush=True)
        if disturbance is not None:
            disturbance.begin(server.port)
        people = Annotators(server.address, float(pause), time.monotonic() + float(seconds), n)
        try:
            asyncio.run(_all(people, int(annotators)))
            memory = Path(f"/proc/{server.process}/status").read_text().split("VmHWM:")[1].split()[0]
            ticks = Path(f"/proc/{server.process}/stat").read_text().rsplit(") ")[1].split()
        finally:
            if disturbance is not None:
                disturbance.close()
            server.kill()
            server.fork_server.close()
    busy = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
    spent = f"errors {len(people.errors)}; the service took {busy:.0f} s of a core and {int(memory) >> 10} MiB"
    print(f"{annotators} annotators, mean pause {pause} s, {seconds} s; {spent}")
    print(*people.errors[:3], sep="\n")
    for what, waits in people.waits.items():
        spots = np.percentile(waits or [np.nan], [50, 95, 99, 100]) * 1000
        shown = ", ".join(f"{spot:.0f}" for spot in spots)
        print(f"{what:>14}: {len(waits):6} requests; median, 95 %, 99 % and longest in ms: {shown}")


async def _all(people: Annotators, annotators: int) -> None:
    await asyncio.gather(*(people.work(number) for number in range(annotators)))


if __name__ == "__main__":
    main(*sys.argv[1:])
