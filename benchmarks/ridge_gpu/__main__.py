"""Run the sections one after the other and print their tables."""

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import benchmarks.ridge_gpu
from benchmarks.ridge_gpu.accuracy import accuracy, agreement
from benchmarks.ridge_gpu.parts import parts, profile, working
from benchmarks.ridge_gpu.speed import batches, machine, pools
from coalface.errors import CoalfaceError
from coalface.kernels.cuda.library import cuda_library

# each yields the rows of a table, the first with the names of the columns
SECTIONS: dict[str, Callable[[], Iterator[list[Any]]]] = {
    "machine": machine,
    "batches": batches,
    "parts": parts,
    "accuracy": accuracy,
    "agreement": agreement,
    "pools": pools,
    "profile": profile,
    "working": working,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=benchmarks.ridge_gpu.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="?", type=Path, help="JSON file for the tables")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    options = parser.parse_args()
    results: dict[str, Any] = {}
    for name in options.only:
        began = time.perf_counter()
        print(f"\n## {name}\n\n{SECTIONS[name].__doc__}\n", flush=True)
        rows = results[name] = []
        try:
            for row in SECTIONS[name]():
                rows.append(row)
                print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |")
                if len(rows) == 1:
                    print("|" + " --- |" * len(row))
        except Exception:  # the other sections are worth having
            traceback.print_exc()
            results[f"{name}, error"] = traceback.format_exc()
        print(f"\n{time.perf_counter() - began:.1f} s", flush=True)
        if options.results:
            options.results.parent.mkdir(parents=True, exist_ok=True)
            options.results.write_text(json.dumps(results, indent=1, default=str))


if __name__ == "__main__":
    try:
        cuda_library("benchmarks.ridge_gpu")
    except CoalfaceError as problem:
        sys.exit(str(problem))
    main()
