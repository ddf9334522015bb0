"""A made-up scenario of ASlib, written as it is published and as one archive."""

import json

import numpy as np

CUTOFF = 100.0
SOLVERS = ["fast 'n' loose", "slow"]


def runs_by_hand(by_time=True, n=20):
    """(instance, repetition, solver, value, status), in no particular order; no solver solves instance 3."""
    random = np.random.default_rng(0)
    for i in range(n):
        for solver in SOLVERS:
            for repetition in (1, 2, 3):
                value = round(float(random.uniform(0, 80)), 3)
                status = "timeout" if i == 3 else random.choice(["ok", "ok", "ok", "ok", "memout"])
                yield f"inst{i:02}", repetition, solver, value if by_time or status == "ok" else 99.0, str(status)


def write_scenario(folder, runs, n=20, kind="runtime", scenario="TOY", maximize="false"):
    folder.mkdir(parents=True)
    (folder / "description.txt").write_text(
        f"scenario_id: {scenario}\n# a remark\nperformance_measures:\n    - score\n    - other\n"
        f"maximize: [{maximize}]\nperformance_type:\n- {kind}\nalgorithm_cutoff_time: '{CUTOFF}'\n"
        "feature_steps:\n  all:\n    provides:\n    - size\n"
    )
    head = "@RELATION RUNS_TOY\n\n@ATTRIBUTE instance_id STRING\n@ATTRIBUTE repetition NUMERIC\n"
    lines = [f'{i},{r},"{solver}",{value},{status}' for i, r, solver, value, status in runs]
    statuses = "{ok , timeout , memout , not_applicable , crash , other}"
    (folder / "algorithm_runs.arff").write_text(
        f"{head}@ATTRIBUTE algorithm STRING\n@ATTRIBUTE score NUMERIC\n@ATTRIBUTE runstatus {statuses}\n\n@DATA\n"
        + "\n".join(lines)
    )
    features = [f"inst{i:02}, 1, {i * i}, {'?' if i % 4 == 0 else i}, 7" for i in reversed(range(n))]
    (folder / "feature_values.arff").write_text(
        f"{head}@ATTRIBUTE size NUMERIC\n@ATTRIBUTE 'the depth' REAL\n@ATTRIBUTE same INTEGER\n@DATA\n% a comment\n"
        + "\n".join(features)
    )
    folds = [f"inst{i:02},1,{i % 10 + 1}\ninst{i:02},2,{(i + 1) % 10 + 1}" for i in range(n)]
    (folder / "cv.arff").write_text(f"{head}@ATTRIBUTE fold NUMERIC\n@DATA\n" + "\n".join(folds))
    return folder


def write_archive(folder, scenario="TOY", kind="runtime", n=20, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    ok = random.random((n, 2)) < 0.8
    perf = np.where(ok, random.uniform(0, CUTOFF, (n, 2)), CUTOFF).astype(np.float32)
    arrays = {
        "X": random.normal(size=(n, 3)).astype(np.float32),
        "perf": perf,
        "ok": ok.astype(np.int8),
        "cost01": perf / np.float32(CUTOFF),
        "cost01_alt": (np.log1p(perf) / np.log1p(CUTOFF)).astype(np.float32),
        "fold": np.arange(n) % 10 + 1,
        "algorithms": np.array(SOLVERS),
        "features": np.array(["a", "b", "c"]),
    } | changes
    np.savez(folder / f"{scenario}.npz", **arrays)
    (folder / "summary.json").write_text(json.dumps([{"scenario": scenario, "ptype": kind}]))
    return arrays
