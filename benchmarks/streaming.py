"""``python -m benchmarks.streaming [ROWS ...]``: memory and speed of training on a stream.

Files of VW text and CSV are generated. The paper's online model learns each file in three ways: streamed in blocks,
read into memory first, and by Vowpal Wabbit from the same text (VW only). Each way has a process of its own, and all
share one core. ``ROWS`` are the numbers of rows, by default 300,000 and 3,000,000. Speeds are compared in processor
time, which other load on the machine changes least.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.machine import run_python, use_one_core
from coalface.data.streams.contract import BLOCK_ROWS

SIZES = (300_000, 3_000_000)
N_LABELS, N_NAMES, PER_ROW = 3, 1000, 10
_PIECE = 10_000  # rows written at a time


@dataclass(frozen=True)
class Trained:
    """How one way of training went."""

    format: str
    way: str
    rows: int
    wall: float
    cpu: float
    peak_bytes: int
    residuals: tuple[float, ...] = ()

    @property
    def per_second(self) -> float:
        """Examples per second of processor time."""
        return self.rows / self.cpu


def vw_lines(n_rows: int, random: np.random.Generator) -> list[str]:
    """Rows with the costs of all labels and some of many named features."""
    names = random.integers(N_NAMES, size=(n_rows, PER_ROW)).tolist()
    values = random.random((n_rows, PER_ROW)).round(3).tolist()
    costs = random.random((n_rows, N_LABELS)).round(3).tolist()
    lines = []
    for cost, found, weights in zip(costs, names, values, strict=True):
        labels = " ".join(f"{k}:{number}" for k, number in enumerate(cost, start=1))
        features = " ".join(f"w{name}:{value}" for name, value in zip(found, weights, strict=True))
        lines.append(f"{labels} | {features}\n")
    return lines


def csv_lines(n_rows: int, random: np.random.Generator) -> list[str]:
    """Rows with the costs of all labels and a few numbers."""
    table = random.random((n_rows, PER_ROW + N_LABELS)).round(3).tolist()
    return [",".join(map(str, row)) + "\n" for row in table]


def write(path: Path, n_rows: int) -> tuple[Path, Path]:
    """A file of so many rows, and one of the first of them."""
    first, random = path.with_name(f"first_{path.name}"), np.random.default_rng(0)
    lines_of = vw_lines if path.suffix == ".vw" else csv_lines
    titles = [f"x{i}" for i in range(PER_ROW)] + [f"cost:{k + 1}" for k in range(N_LABELS)]
    header = "" if path.suffix == ".vw" else ",".join(titles) + "\n"
    with path.open("w") as file:
        file.write(header)
        for start in range(0, n_rows, _PIECE):
            lines = lines_of(min(_PIECE, n_rows - start), random)
            file.writelines(lines)
            if not start:
                first.write_text(header + "".join(lines[:100]))
    return path, first


def measure(n_rows: int, folder: Path, rows: int = BLOCK_ROWS) -> Iterator[Trained]:
    """All ways of training on files of so many rows, one after another."""
    for format in ("vw", "csv"):
        path, first = write(folder / f"{n_rows}.{format}", n_rows)
        for way in ("streamed", "in memory"):
            yield _ours(format, way, path, first, rows)
        if format == "vw":
            yield _vw(path, first, n_rows)
        path.unlink()


def _ours(format: str, way: str, path: Path, first: Path, rows: int) -> Trained:
    request = json.dumps([way, str(path), str(first), {}, rows])
    found = json.loads(run_python(["-m", "benchmarks.streaming_worker", request]).stdout.splitlines()[-1])
    residuals = tuple(found.pop("residuals"))
    return Trained(format, way, **found, residuals=residuals)


def _vw(path: Path, first: Path, n_rows: int) -> Trained:
    args = ["--csoaa", f"{N_LABELS}", "--adax", "--quiet", "-b", "18"]
    start, found = (_vw_seconds([*args, "-d", f"{file}"]) for file in (first, path))
    cpu, wall = found["cpu"] - start["cpu"], found["wall"] - start["wall"]
    return Trained("vw", "Vowpal Wabbit", n_rows, wall, cpu, int(found["peak_bytes"]))


def _vw_seconds(args: list[str]) -> dict[str, Any]:
    output = run_python(["-m", "benchmarks.vw_worker", json.dumps({"args": args})]).stdout
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=int, default=SIZES, help="numbers of rows")
    use_one_core()
    table = Table(
        "format", "rows", "way", "wall", "examples/s (wall)", "examples/s (processor)", "peak memory", "streamed is"
    )
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in parser.parse_args().rows:
            streamed = None
            for done in measure(n_rows, Path(folder)):
                streamed = done if done.way == "streamed" else streamed
                print(done, file=sys.stderr, flush=True)
                share = "" if done is streamed else f"{streamed.per_second / done.per_second:.2f} times as fast"
                if done.residuals and done is not streamed:
                    share += ", same bits" if done.residuals == streamed.residuals else ", OTHER BITS"
                table.add_row(
                    done.format,
                    f"{done.rows:,}",
                    done.way,
                    f"{done.wall:.1f} s",
                    f"{done.rows / done.wall:,.0f}",
                    f"{done.per_second:,.0f}",
                    f"{done.peak_bytes / 1e6:,.0f} MB",
                    share,
                )
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
