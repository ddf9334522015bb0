"""Findings made by formula, for tests: nothing is simulated, and what each line is worth is known."""

import dataclasses

import numpy as np

from coalface.studies.findings import DataFacts, Findings, FinishedRun, Points

K = 10
N = 1280


def data_facts(name="digits", price_unit="", n_labels=K):
    return DataFacts(name, N, 500, n_labels, 64, 32.5, 0.5, "f00d", price_unit)


def a_run(asked, test_cost, *, data="digits", line="coal", rate=0.5, permutation=0, asks="costs", rule=None, **other):
    """A run through some checkpoints; its AUC is the sum of its test costs unless told."""
    asked = np.asarray(asked, np.int64)
    test_cost = np.asarray(test_cost, np.float64)
    examples = np.asarray(other.get("examples", np.minimum(asked // 2, N)), np.int64)
    spent = np.asarray(other.get("spent", np.full(len(asked), np.nan)), np.float64)
    return FinishedRun(
        data=data,
        line=line,
        rule=rule or line.split()[0],
        learning_rate=rate,
        permutation=permutation,
        asks=asks,
        auc=float(other.get("auc", test_cost.sum())),
        costs_queried=int(asked[-1]),
        examples_queried=int(examples[-1]),
        rounds=N,
        test_cost=float(test_cost[-1]),
        spent=float(spent[-1]),
        seconds=0.25,
        points=Points(asked, examples, test_cost, spent),
        auc_published=float(other.get("auc_published", np.nan)),
    )


def findings(runs, lines=None, data=(), baseline="passive", **other):
    return Findings(
        name="made",
        title="A made study",
        text="Lines that fall as a formula says.",
        baseline=baseline,
        lines=tuple(lines or dict.fromkeys(run.line for run in runs)),
        data=tuple(data) or tuple(data_facts(name) for name in dict.fromkeys(run.data for run in runs)),
        runs=tuple(runs),
        settings=other.get("settings", {"permutations": "5, one pass each"}),
        versions={"coalface": "0.1.0"},
        timings={"all runs": "1.5 s"},
        failures=tuple(other.get("failures", ())),
        missing=other.get("missing", 0),
    )


# What a line asks for at most, how much faster than passive it learns, and by what its final test cost differs.
LINES = {
    "passive": (N * K, 1.0, 1.0),
    "coal 0.1": (N * K // 2, 2.0, 1.0),
    "coal 0.01": (N * K // 4, 6.0, 1.05),
    "coal 0.001": (N * K // 16, 8.0, 0.7),  # stops too early and never gets as good as passive
}
ABLATIONS = {"all-or-none 0.01": (N * K // 2, 1.5, 1.0), "no-domination 0.001": (N * K // 2, 1.2, 0.98)}
BASELINES = {"margin": (N * K, 10.0, 1.0), "vw": (N * K // 4, 5.0, 1.0)}


def learning(lines=LINES, data=("digits",), rates=(0.1, 0.5, 1.0), n=5, price_unit="", label_askers=("margin",)):
    """A study in which every line falls by a power of what it asked for; rate 0.5 is the best of each."""
    budgets = np.ceil(10 * K * 2 ** (np.arange(29) / 4)).astype(np.int64)
    runs = []
    for place, name in enumerate(data):
        for line, (most, speed, quality) in lines.items():
            for rate in rates:
                for permutation in range(n):
                    noise = np.random.default_rng([place, permutation]).normal(0, 0.02, len(budgets))
                    asked = np.append(budgets[budgets < most], most)
                    rest = 0.9 * (asked * speed * (1 + 0.2 * place) / 50.0) ** -0.5 / quality + 0.02
                    test_cost = rest * np.exp(noise[: len(asked)]) * (1 + abs(np.log2(rate / 0.5)) / 10)
                    asks = "labels" if line in label_askers else "costs"
                    if asks == "labels":
                        asked = np.ceil(asked / K).astype(np.int64) * K
                    spent = asked * 0.3 if price_unit else np.full(len(asked), np.nan)
                    runs.append(
                        a_run(
                            asked,
                            test_cost,
                            data=name,
                            line=line,
                            rate=rate,
                            permutation=permutation,
                            asks=asks,
                            spent=spent,
                            examples=np.minimum(np.ceil(asked / K * (1 + np.log2(speed))), N),
                        )
                    )
    return findings(runs, data=[data_facts(name, price_unit) for name in data])


def unpriced(study, line, permutations=range(5)):
    """The study, of which some runs of a line do not say what they spent."""
    runs = [_unpriced_run(run) if run.line == line and run.permutation in permutations else run for run in study.runs]
    return dataclasses.replace(study, runs=tuple(runs))


def _unpriced_run(run):
    unknown = np.full(len(run.points.spent), np.nan)
    return dataclasses.replace(run, spent=np.nan, points=dataclasses.replace(run.points, spent=unknown))
