"""Models and archives that were changed at random: each is refused in one line, or it works.

``python -m tests.fuzzing.files 100000 [FIRST]`` tries that many, a fifth of them archives, in child processes: a crash
of the interpreter counts, too. Case numbers are seeds, so ``python -m tests.fuzzing.files 1 4711`` repeats one.
"""

import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np

from coalface import CoalClassifier
from coalface.desk.project.project import Project
from coalface.desk.service.archive import read_archive, write_archive
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import CoalfaceError
from tests.fuzzing.mutations import mutated_archive, mutated_bundle

_PER_CHILD = 2500
_MEMORY = 6 << 30  # bytes of address space
_KINDS, _SHARES = ("online", "ridge", "auto", "classes", "forest"), (6, 6, 4, 1, 1)  # the last ones are slow to load
_ROWS = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)


class Samples:
    """Files that work: a model of each kind, and a project with answers, an undo and an open question."""

    def __init__(self, folder):
        self.folder, self.models = folder, []
        costs = np.random.default_rng(1).random((40, 3))
        for kind in _KINDS:
            CoalClassifier(["a", "b", "c"], model=kind).tell(_ROWS, costs).save(folder / kind)
            self.models.append((folder / kind).read_bytes())
        examples = [{"id": f"mail-{i}", "text": f"text {i}"} for i in range(12)]
        project = Project.create(folder / "mail", examples, ["a", "b", "c"], features=_ROWS[:12])
        with closing(Desk(project)) as desk:
            receipts = [_answered(desk) for _ in range(6)]
            desk.undo("ada", receipts[2].answer_id)
            desk.settle()
            write_archive(desk.project, desk.store, folder / "mail.zip")
        with zipfile.ZipFile(folder / "mail.zip") as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}


def _answered(desk, who="ada"):
    question = desk.lease(who)
    if isinstance(question, NoQuestion):
        return None
    return desk.answer(who, question.id, question.lease_id, dict.fromkeys(question.labels, 0.5), f"k{question.id}")


def try_model(samples, draw):
    """Load a changed model and use it; how far it came."""
    path = samples.folder / "changed"
    path.write_bytes(mutated_bundle(draw.choices(samples.models, _SHARES)[0], draw))
    try:
        learner = CoalClassifier.load(path)
    except CoalfaceError as refusal:
        return _one_line(refusal)
    try:
        learner.predict(_ROWS[:3])
        learner.ask(_ROWS[:3])
        learner.tell(_ROWS[:3], np.full((3, len(learner.classes_)), learner.cost_bounds[0]))
        learner.save(path)
    except CoalfaceError as refusal:
        return _one_line(refusal)
    return "works"


def try_archive(samples, draw):
    """Import a changed archive and label with it; how far it came."""
    path = samples.folder / "changed.zip"
    path.write_bytes(mutated_archive(samples.members, draw))
    with tempfile.TemporaryDirectory(dir=samples.folder) as folder:
        try:
            project = read_archive(path, Path(folder, "copy"))
        except CoalfaceError as refusal:
            assert not any(Path(folder).iterdir()), "something was left behind"
            return _one_line(refusal)
        try:
            with closing(Desk(project)) as desk:
                _answered(desk, "bob")
                desk.overview()
                b"".join(desk.export("jsonl"))
        except CoalfaceError as refusal:
            return _one_line(refusal)
    return "works"


def _one_line(refusal):
    assert "\n" not in str(refusal), f"more than one line: {refusal}"
    return "refused"


def run(cases, samples, report=print):
    """Try these cases; what came of them, and the cases that raised something else."""
    counts, wrong = Counter(), {}
    for case in cases:
        draw = random.Random(case)
        tried = try_model if case % 5 else try_archive
        report(case)
        try:
            counts[f"{tried.__name__[4:]} {tried(samples, draw)}"] += 1
        except BaseException as problem:
            last = traceback.extract_tb(problem.__traceback__)[-1]
            wrong.setdefault(f"{type(problem).__name__} in {Path(last.filename).name}:{last.lineno}", case)
            counts["not one line"] += 1
    return counts, wrong


def main(n, first="0"):
    """Try ``n`` cases in child processes and print a summary."""
    begin, total, crashes = time.monotonic(), Counter(), []
    start, stop = int(first), int(first) + int(n)
    while start < stop:
        end = min(start + _PER_CHILD, stop)
        child = [sys.executable, "-m", "tests.fuzzing.files", "--child", str(start), str(end)]
        done = subprocess.run(child, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        tried = [int(line[1:]) for line in lines if line.startswith("#")]
        for line in lines:
            if line.startswith("="):
                name, _, times = line[1:].rpartition(" ")
                total[name] += int(times)
            elif line.startswith("!"):
                print(line[1:], flush=True)
        if done.returncode:
            crashes.append(tried[-1] if tried else start)
            print(f"case {crashes[-1]} ended the process ({done.returncode}): {done.stderr[-300:]}", flush=True)
        start = tried[-1] + 1 if done.returncode and tried else end
        print(f"{start - int(first):,} cases, {time.monotonic() - begin:.0f} s: {dict(total)}", flush=True)
    print(f"{len(crashes)} crashes, {total['not one line']} not refused in one line")


def _child(start, stop):
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        counts, wrong = run(range(start, stop), Samples(Path(folder)), lambda case: print(f"#{case}", flush=True))
    for name, times in counts.items():
        print(f"={name} {times}")
    for place, case in wrong.items():
        print(f"!case {case}: {place}")


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        _child(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*sys.argv[1:])
