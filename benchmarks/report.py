"""The figures as a table and as JSON."""

import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure

_VERSIONS = ("coalface", "vowpalwabbit", "numba", "numpy", "scipy", "scikit-learn")
_SHOWN = {
    "our_examples_per_second": "{:,.0f}/s",
    "vw_examples_per_second": "VW {:,.0f}/s",
    "ratio_to_learning_thread": "{:.1f} without VW's reading",
    "wall_ratio": "wall clock {:.1f}",
    "our_costs_asked": "asked {:,}",
    "vw_costs_asked": "VW {:,}",
    "our_test_cost": "test {:.4f}",
    "vw_test_cost": "VW {:.4f}",
    "bytes_touched_per_example": "{:,.0f} bytes per example",
    "copy_gigabytes_per_second": "copy {:.1f} GB/s",
    "model_bytes": "{:,} bytes",
    "features_learned": "{:,} features",
    "peak_bytes": "{:,} bytes",
    "vw_process_peak_bytes": "VW process {:,}",
    "mean": "mean {:.0f}",
    "of_which_ask": "ask {:.0f}",
    "our_megabytes_per_second": "{:.0f} MB/s",
    "vw_megabytes_per_second": "VW {:.0f} MB/s",
    "our_seconds": "{:.2f} s",
    "least_seconds": "these alone {:.2f} s",
}


def show(figures: Iterable[Figure], console: Console) -> None:
    """Print one row per figure: green if it meets its target, red if not."""
    table = Table(title="coalface against Vowpal Wabbit and the machine, one core")
    for heading in ("figure", "data"):
        table.add_column(heading, no_wrap=True)
    for heading in ("median", "range", "target"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("details")
    for figure in figures:
        colour = {True: "[green]", False: "[red]", None: ""}[figure.met]
        spread = f"{_short(figure.low)} to {_short(figure.high)}" if figure.low < figure.high else ""
        target = str(figure.target or "")
        details = [form.format(figure.details[key]) for key, form in _SHOWN.items() if key in figure.details]
        row = (figure.name, figure.data, f"{colour}{_short(figure.value)}", spread, target, figure.unit)
        table.add_row(*row, ", ".join(details))
    console.print(table)


def save(figures: Iterable[Figure], machine: dict[str, Any], path: Path) -> None:
    """Write all figures, the machine and the versions as JSON."""
    content = {
        "machine": machine,
        "versions": {name: version(name) for name in _VERSIONS},
        "figures": [figure.to_json() for figure in figures],
    }
    path.write_text(json.dumps(content, indent=2) + "\n")


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
