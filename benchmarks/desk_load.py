"""A desk under load: the time of a lease and an answer with many annotators, and the memory of a large pool.

Run as ``python -m benchmarks.desk_load --examples 100000 --labels 50 --annotators 200 --seconds 60 --pause 8``.
"""

import argparse
import resource
import shutil
import tempfile
import threading
import time
import zlib
from pathlib import Path

import numpy as np

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion

WORDS = 20_000


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    for start in range(0, n, 10_000):
        block = np.minimum(rng.zipf(1.3, size=(min(10_000, n - start), 12)), WORDS)
        for row, words in enumerate(block):
            yield {"id": f"text-{start + row}", "text": " ".join(f"w{word}" for word in words)}


def costs_for(question, n_labels):
    """Costs by the right label, which depends on the rarest word of the text."""
    rarest = max(question.content["text"].split(), key=lambda word: int(word[1:]))
    right = f"label {zlib.crc32(rarest.encode()) % n_labels}"
    return {label: 0.0 if label == right else 1.0 for label in question.labels}


def annotate(desk, who, pause, deadline, times, n_labels, rng):
    time.sleep(float(rng.uniform(0, pause)))
    while time.monotonic() < deadline:
        started = time.perf_counter()
        question = desk.lease(who)
        times["lease"].append(time.perf_counter() - started)
        if isinstance(question, NoQuestion):
            times[question.reason].append(0.0)
            time.sleep(pause / 2)
            continue
        while question and time.monotonic() < deadline:
            time.sleep(float(rng.exponential(pause)))
            started = time.perf_counter()
            key = f"{question.lease_id}{question.id}"
            question = desk.answer(who, question.id, question.lease_id, costs_for(question, n_labels), key).follow_up
            times["answer"].append(time.perf_counter() - started)


def memory():
    """MiB of this process: private (anonymous) pages now, and the peak of all pages."""
    lines = Path("/proc/self/status").read_text().splitlines()
    own = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
    return own / 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=8)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        started = time.perf_counter()
        labels = [f"label {k}" for k in range(given.labels)]
        project = Project.create(folder / "p", texts(given.examples), labels)
        print(f"created in {time.perf_counter() - started:.1f} s, {memory()[0]:.0f} MiB private memory", flush=True)
        started = time.perf_counter()
        desk = Desk(project)
        desk.lease("first")
        print(f"first question after {time.perf_counter() - started:.2f} s, {memory()[0]:.0f} MiB", flush=True)
        times = {"lease": [], "answer": [], "all-leased": [], "nothing-worth-asking": [], "budget-spent": []}
        deadline = time.monotonic() + given.seconds
        threads = [
            threading.Thread(
                target=annotate,
                args=(desk, f"p{k}", given.pause, deadline, times, given.labels, np.random.default_rng(k)),
            )
            for k in range(given.annotators)
        ]
        cpu = time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        calls = len(times["lease"]) + len(times["answer"])
        print(f"{calls} calls, {1000 * (time.process_time() - cpu) / calls:.1f} ms of CPU time each")
        for name in ("lease", "answer"):
            milliseconds = 1000 * np.array(times[name])
            shown = " ".join(f"p{q} {np.percentile(milliseconds, q):.1f}" for q in (50, 90, 99, 100))
            print(f"{name}: {len(milliseconds)} calls, ms {shown}")
        print({name: len(found) for name, found in times.items()}, "decided", desk.overview().decided)
        print(f"at the end {memory()[0]:.0f} MiB private, {memory()[1]:.0f} MiB peak")
        desk.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
