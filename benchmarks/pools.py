"""Predicts and ranks a generated pool on two Dask workers: rows per second, peak memory, and a worker killed midway.

``python -m benchmarks.pools --rows 20000000 --files 40`` writes the pool to a temporary folder, trains a model, and
prints the figures. The killed run must give equal results.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.dask_cluster import Cluster
from coalface import CoalClassifier
from coalface.data.encoding.encoder import Encoder
from coalface.studies.pools import predict_pool, rank_pool

_LABELS = ["billing", "delivery", "other", "refund"]
_N_NUMBERS = 8
_CHANNELS = np.array(["chat", "form", "mail"])
_MADE_AT_ONCE = 500_000


def main() -> None:
    options = _options()
    with TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        model = _trained(folder / "m.coal")
        began = time.perf_counter()
        size = _write_pool(folder / "pool", options.rows, options.files)
        _show(made=options.rows, files=options.files, megabytes=size // 2**20, seconds=time.perf_counter() - began)
        cluster = Cluster(folder)
        try:
            _measure(folder, model, cluster, options.top)
        finally:
            cluster.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--top", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    return parser.parse_args()


def _show(**figures: Any) -> None:
    print(json.dumps({k: round(v, 2) if isinstance(v, float) else v for k, v in figures.items()}), flush=True)


# -- the pool --------------------------------------------------------------------------------------


def _columns(random: np.random.Generator, n: int) -> tuple[dict[str, Any], Any]:
    """Columns of examples and their true labels: eight numbers, some missing, and a category."""
    truth = random.integers(len(_LABELS), size=n)
    numbers = random.normal(size=(n, _N_NUMBERS)).astype(np.float32).round(2)
    numbers[np.arange(n), truth] += 1.5
    channel = np.where(random.random(n) < 0.3, truth % 3, random.integers(3, size=n))
    columns = {f"x{place}": numbers[:, place] for place in range(_N_NUMBERS)}
    return {**columns, "channel": _CHANNELS[channel].astype(object)}, truth


def _trained(path: Path) -> Path:
    columns, truth = _columns(np.random.default_rng(0), 2000)
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    learner = CoalClassifier(_LABELS, model="online", features=Encoder())
    learner.fit(records, [_LABELS[k] for k in truth]).save(path)
    return path


def _write_pool(folder: Path, rows: int, files: int) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    first, random = 0, np.random.default_rng(1)
    for number in range(files):
        left = rows // files
        path = folder / f"part-{number:04d}.parquet"
        writer = None
        while left:
            n = min(left, _MADE_AT_ONCE)
            table = pa.table({"id": np.arange(first, first + n), **_columns(random, n)[0]})
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table, row_group_size=2**17)
            first, left = first + n, left - n
        if writer is not None:
            writer.close()
    return sum(path.stat().st_size for path in folder.iterdir())


# -- the runs --------------------------------------------------------------------------------------


def _measure(folder: Path, model: Path, cluster: Cluster, top: int) -> None:
    pool, where = [f"{folder}/pool/*.parquet"], f"dask://{cluster.address}"
    cluster.wait_for(2)

    def predict(name: str, progress: Callable[[int, int], None] | None = None) -> Any:
        return predict_pool(model, pool, out=folder / name, executor=where, progress=progress)

    def rank(name: str, progress: Callable[[int, int], None] | None = None) -> Any:
        return rank_pool(model, pool, folder / f"{name}.parquet", top, executor=where, progress=progress)[0]

    for verb, work in (("predict", predict), ("rank", rank)):
        outcome = work(f"{verb}-whole")
        rate = outcome.rows / outcome.seconds
        _show(verb=verb, rows=outcome.rows, seconds=outcome.seconds, rows_per_second=rate, peak_mib=cluster.peaks())
    for verb, work in (("predict", predict), ("rank", rank)):
        killed: list[int] = []

        def kill_one(done: int, total: int, killed: list[int] = killed) -> None:
            if not killed and 3 * done >= total:
                killed.append(cluster.kill_worker())
                cluster.add_worker()

        outcome = work(f"{verb}-killed", kill_one)
        _show(verb=verb, killed=killed, seconds=outcome.seconds, equal=_are_equal(folder, verb), rows=outcome.rows)


def _are_equal(folder: Path, verb: str) -> bool:
    from pyarrow.parquet import read_table

    if verb == "rank":
        return bool(read_table(folder / "rank-whole.parquet").equals(read_table(folder / "rank-killed.parquet")))
    names = sorted(path.name for path in (folder / "predict-whole").iterdir())
    same = names == sorted(path.name for path in (folder / "predict-killed").iterdir())
    return same and all(
        read_table(folder / "predict-whole" / name).equals(read_table(folder / "predict-killed" / name))
        for name in names
    )


if __name__ == "__main__":
    main()
