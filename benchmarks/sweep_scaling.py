"""``python -m benchmarks.sweep_scaling [--data in20 ...]``: how much faster a sweep is on 2 threads than on 1.

The same cells run alternately on 1 and on 2 threads, each time into an empty folder. The ratio is that of wall times.
"""

import argparse
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from coalface.studies.study import Study
from coalface.studies.sweep import run_sweep

STUDY = """
data = ["{data}"]
permutations = 2
[settings]
learning_rate = [0.1, 0.5]
rule.slack = "published"
rule.warm_up = 10
audits.rate = 0.0
[lines.passive]
rule = "passive"
[lines.coal]
mellowness = [0.1, 0.01, 0.001]
"""
WANTED = 1.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["digits"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    table = Table("data", "1 thread", "2 threads", "ratio (range)", f"wanted {WANTED}")
    for data in options.data:
        study = Study.from_toml(STUDY.format(data=data))
        seconds(study, 2)  # compiles
        pairs = [(seconds(study, 1), seconds(study, 2)) for _ in range(options.repeats)]
        ratios = sorted(one / two for one, two in pairs)
        ratio = median(ratios)
        ones, twos = (median(side) for side in zip(*pairs, strict=True))
        spread = f"{ratio:.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        table.add_row(data, f"{ones:.2f} s", f"{twos:.2f} s", spread, "met" if ratio >= WANTED else "missed")
    Console(width=100).print(table)


def seconds(study: Study, threads: int) -> float:
    """The wall time of all cells, without the time to read the data."""
    with TemporaryDirectory() as folder:
        outcome = run_sweep(study, Path(folder), "threads", threads)
    assert outcome.failed == 0
    return outcome.seconds


if __name__ == "__main__":
    main()
