"""Files of VW text, and the VW wheel run on them as a program.

All lines of a file have equally many features of size one. Then all labels have the same average norm, and the wheel's
defect of taking that of another label has no effect.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

N_WORDS, N_COLOURS = 12, 5
NO_COLLISIONS = ["-b", "26"]


def write_examples(path, *, n=120, n_labels=4, seed=0, largest=1.0, write_label=None, in_order=False):
    """Examples of six words and two colours in the namespaces ``animals`` and ``b``; six costs in ten are above 0."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(N_WORDS + N_COLOURS, n_labels))
    lines = []
    for number in range(n):
        words = random.choice(N_WORDS, 6, replace=False)
        colours = random.choice(N_COLOURS, 2, replace=False)
        if in_order:
            words, colours = np.sort(words), np.sort(colours)
        score = weights[words].sum(axis=0) + weights[N_WORDS + colours].sum(axis=0) + random.normal(size=n_labels)
        cost = np.clip((score / 4 + 0.5).round(2), 0, 1) * largest
        label = costs_text(cost) if write_label is None else write_label(number, cost)
        features = " ".join(f"w{word}" for word in words) + " |b " + " ".join(f"c{colour}" for colour in colours)
        lines.append(f"{label}|animals {features}\n")
    Path(path).write_text("".join(lines))


def costs_text(cost):
    return "".join(f"{label}:{one:g} " for label, one in enumerate(cost.tolist(), start=1))


@dataclass(frozen=True)
class WheelRun:
    average_loss: float
    queries: int | None
    chosen: list[str]
    raw: list[dict[str, float]]  # empty where the line lists no label


def run_wheel(arguments, folder):
    """VW's summary and predictions."""
    files = ["-p", str(folder / "wheel.txt"), "-r", str(folder / "wheel-raw.txt")]
    done = subprocess.run(
        [sys.executable, "-m", "vowpalwabbit", *arguments.split(), *NO_COLLISIONS, *files],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    loss = re.search(r"average loss = (\S+)", done.stderr)
    queries = re.search(r"total queries = (\d+)", done.stderr)
    return WheelRun(
        float(loss[1]) if loss[1] != "n.a." else float("nan"),
        None if queries is None else int(queries[1]),
        (folder / "wheel.txt").read_text().splitlines(),
        raw_costs(folder / "wheel-raw.txt"),
    )


def raw_costs(path):
    """The predicted costs of each line."""
    return [dict(_pair(word) for word in line.split() if ":" in word) for line in path.read_text().splitlines()]


def _pair(word):
    label, _, cost = word.partition(":")
    return label, float(cost)
