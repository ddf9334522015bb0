"""How long annotators wait: many simulated people with pauses, and the service on the same machine.

``python -m benchmarks.labelling_load [ANNOTATORS [EXAMPLES [SECONDS [PAUSE]]]]``
"""

import asyncio
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np

from benchmarks.labelling_kills import Server
from coalface.service.project.project import Project

N_LABELS, N_WORDS, LENGTH = 50, 20_000, 12
RAMP = 30.0  # seconds until all annotators have started
PATH = "/api/v1/projects/tickets"


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

    def __init__(self, address: str, pause: float, end: float) -> None:
        self.address, self.pause, self.end = address, pause, end
        self.waits: dict[str, list[float]] = {"next question": [], "answer": []}
        self.errors: list[str] = []

    async def work(self, number: int) -> None:
        draw = random.Random(number)
        headers = {"authorization": f"Bearer coal_{number}"}
        about = {"base_url": self.address, "headers": headers, "timeout": 60.0, "trust_env": False}
        async with httpx.AsyncClient(
            verify=False, **about
        ) as client:  # loading certificates takes 30 ms, which is not the server's
            await asyncio.sleep(draw.random() * RAMP)
            while time.monotonic() < self.end:
                found = await self._timed("next question", client, f"{PATH}/queries:lease", {})
                query = found["queries"][0] if found and found["queries"] else None
                while query is not None and time.monotonic() < self.end:
                    await asyncio.sleep(draw.expovariate(1.0 / self.pause))
                    costs = {label: true_cost(query["content"]["text"], label) for label in query["labels"]}
                    body = {"query_id": query["id"], "lease_id": query["lease_id"], "costs": costs}
                    receipt = await self._timed("answer", client, f"{PATH}/answers", body)
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


def main(annotators: str = "200", examples: str = "100000", seconds: str = "60", pause: str = "5") -> None:
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        labels = [str(k) for k in range(N_LABELS)]
        project = Project.create(Path(folder) / "tickets", texts(int(examples)), labels, cost_bounds=(0.0, 2.0))
        store = project.open_store()
        for number in range(int(annotators)):
            store.add_token(str(number), "annotator", f"coal_{number}")
        store.close()
        made = time.perf_counter()
        server = Server(project.folder)
        server.start()
        started = time.perf_counter()
        times = f"created in {made - begin:.0f} s, serving after {started - made:.1f} s"
        print(f"{int(examples):,} texts, {N_LABELS} labels: {times}")
        people = Annotators(server.address, float(pause), time.monotonic() + float(seconds))
        try:
            asyncio.run(_all(people, int(annotators)))
            memory = Path(f"/proc/{server.process}/status").read_text().split("VmHWM:")[1].split()[0]
            ticks = Path(f"/proc/{server.process}/stat").read_text().rsplit(") ")[1].split()
        finally:
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
