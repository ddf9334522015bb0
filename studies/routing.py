"""Routing between language models: test loss against the share of outcomes bought, and loss against dollars.

Run it with the folder ``llm_routing`` in ``$COALFACE_DATA``::

    python studies/routing.py run --out studies/routing --cache CACHE
    python studies/routing.py report --out studies/routing

``run`` adds lines to ``losses.csv`` and ``dollars.csv``, skips what they have, and can be stopped at any time.
``report`` writes the tables and figures. Test prompts with an unknown outcome are left out.
"""

import argparse
import csv
import gzip
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

from coalface import CoalClassifier, RidgeModel, Router, TradeOff, simulate
from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.encoding.encoder import Encoder
from coalface.studies.baselines.regressors import drawn_costs, predicted_costs

SHARES = (0.05, 0.1, 0.2)
N_COMPONENTS, N_TREES, N_NEIGHBOURS = 100, 50, 40
VALUE_OF_QUALITY = 0.05  # dollars for a wrong answer
WEIGHTS = np.concatenate([[0.0], np.geomspace(1e-4, 100.0, 61), [np.inf]])


@dataclass(frozen=True)
class Task:
    """Features of training and test prompts, and their losses and dollars (n, K)."""

    name: str
    features: str
    models: list
    X: object
    X_test: object
    compact: np.ndarray  # dense features for rivals
    compact_test: np.ndarray
    loss: np.ndarray
    loss_test: np.ndarray
    dollars: np.ndarray | None
    dollars_test: np.ndarray | None


# -- data ------------------------------------------------------------------------------------------------------------


def prompts(name, part):
    """The prompts of one part of a dataset."""
    path = Path(os.environ["COALFACE_DATA"], "llm_routing", f"{name}_{part}.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def numbers(rows, key, models):
    """A number for every prompt and model, NaN where it is unknown."""
    return np.array([[np.nan if row[key].get(m) is None else row[key][m] for m in models] for row in rows], np.float64)


def task_of(name, features, cache):
    """One dataset with one kind of features."""
    train, test = prompts(name, "train"), prompts(name, "test")
    models = list(train[0]["cost"])
    test = [row for row in test if not np.isnan(numbers([row], "cost", models)).any()]
    X, X_test = features_of(name, features, [[row["text"] for row in part] for part in (train, test)], cache)
    compact, compact_test = compact_of(name, features, X, X_test, cache)
    money = "dollars" in train[0]
    return Task(
        name, features, models, X, X_test, compact, compact_test,
        numbers(train, "cost", models), numbers(test, "cost", models),
        numbers(train, "dollars", models) if money else None, numbers(test, "dollars", models) if money else None,
    )  # fmt: skip


def features_of(name, features, texts, cache):
    """The features of training and test prompts; words are kept in the cache."""
    if features == "minilm":
        embed = SentenceEmbedder()  # it keeps its vectors on disk
        return tuple(np.asarray(embed(part), np.float32) for part in texts)
    files = [Path(cache, f"{name}-{part}.npz") for part in ("train", "test")]
    if not all(file.exists() for file in files):
        encoder = Encoder().fit([{"text": text} for text in texts[0]])
        for file, part in zip(files, texts, strict=True):
            save_npz(file, csr_array(encoder.transform([{"text": text} for text in part])))
    return tuple(load_npz(file) for file in files)


def compact_of(name, features, X, X_test, cache):
    """Features for nearest neighbours and forests: the embeddings, or the words in 100 principal directions."""
    if features == "minilm":
        return X, X_test
    file = Path(cache, f"{name}-compact.npz")
    if not file.exists():
        from sklearn.decomposition import TruncatedSVD

        reduce = TruncatedSVD(N_COMPONENTS, n_iter=3, random_state=0)
        np.savez(file, train=reduce.fit_transform(X), test=reduce.transform(X_test))
    found = np.load(file)
    unit = [part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-9) for part in found.values()]
    return unit[0], unit[1]


# -- who predicts ----------------------------------------------------------------------------------------------------


def bought(task, share, drawn, seed):
    """The losses that a rival knows: all outcomes of some prompts, or single outcomes, NaN elsewhere."""
    if share == 1.0:
        return task.loss
    if drawn == "examples":
        order = np.random.default_rng(seed).permutation(len(task.loss))
        known = np.zeros(task.loss.shape, bool)
        known[order[: round(share * len(order))]] = True
    else:
        rows, labels = drawn_costs(np.ones(task.loss.shape, bool), seed)
        known = np.zeros(task.loss.shape, bool)
        n = round(share * known.size)
        known[rows[:n], labels[:n]] = True
    return np.where(known, task.loss, np.nan)


def rival(kind, task, share, drawn, seed):
    """The test losses that nearest neighbours or a forest predict from what they bought."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neighbors import KNeighborsRegressor

    def new():
        if kind == "forest":
            return RandomForestRegressor(N_TREES, max_features="sqrt", min_samples_leaf=5, random_state=seed, n_jobs=1)
        return KNeighborsRegressor(N_NEIGHBOURS, algorithm="brute")

    loss = bought(task, share, drawn, seed)
    if drawn == "examples" and not np.isnan(task.loss).any():
        rows = ~np.isnan(loss).any(axis=1)  # one regressor for all models: faster, and the same neighbours
        return new().fit(task.compact[rows], loss[rows]).predict(task.compact_test)
    return predicted_costs(new, task.compact, loss, task.compact_test, lambda: None)


def learner_of(task, kind, seed, **settings):
    """A new learner, and the training and test features that it takes: words, or what the rivals have."""
    if kind == "words":
        return CoalClassifier(task.models, random_state=seed, **settings), task.X, task.X_test
    made = CoalClassifier(task.models, random_state=seed, model=RidgeModel("light"), **settings)
    return made, task.compact.astype(np.float32), task.compact_test.astype(np.float32)


def order_of(task, seed):
    """The order of the training prompts."""
    return np.random.default_rng(seed).permutation(len(task.loss))


def along(task, kind, seed, **settings):
    """The test loss of a run at each share of outcomes bought, and at its end."""
    learner, X, X_test = learner_of(task, kind, seed, **settings)
    wanted = [round(share * task.loss.size) for share in SHARES]
    curve = simulate(
        learner, X, task.loss, X_test=X_test, cost_test=task.loss_test, order=order_of(task, seed), checkpoints=wanted
    )
    points = zip(curve.costs_queried.tolist(), curve.test_cost.tolist(), strict=True)
    return [(costs / task.loss.size, loss) for costs, loss in points]


def random_costs(task, share, seed):
    """The losses that the same learner predicts with outcomes drawn at random."""
    loss = bought(task, share, "costs", seed)
    order = order_of(task, seed)
    learner, _, _ = learner_of(task, "words", seed, rule="passive")
    rows = order[~np.isnan(loss[order]).all(axis=1)]
    for block in np.array_split(rows, max(1, len(rows) // 512)):
        learner.tell(task.X[block], loss[block])
    return learner.predict_cost(task.X_test), share


# -- runs ------------------------------------------------------------------------------------------------------------


class Table:
    """Lines of a CSV file; a line is made once."""

    def __init__(self, path, columns, key):
        self.path, self.columns, self.key = path, columns, key
        self.rows = list(csv.DictReader(path.open())) if path.exists() else []
        self.have = {tuple(row[name] for name in key) for row in self.rows}

    def has(self, **values):
        """Whether there is a line with these values."""
        return tuple(str(values[name]) for name in self.key) in self.have

    def add(self, rows):
        """Add lines."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self.columns)
            if new:
                writer.writeheader()
            writer.writerows(rows)
        self.have |= {tuple(str(row[name]) for name in self.key) for row in rows}


def loss_jobs(task, seed, heavy):
    """The lines of one permutation: name, share bought, and what computes the predicted losses."""
    for share in SHARES:
        yield "random costs", str(share), lambda share=share: random_costs(task, share, seed)
    for kind in ("knn", "forest") if heavy else ("knn",):
        for drawn in ("examples", "costs"):
            for share in (*SHARES, 1.0):
                if share < 1.0 or drawn == "examples":
                    name = f"{kind}, {drawn}" if share < 1.0 else kind
                    yield name, str(share), lambda a=(kind, task, share, drawn, seed): (rival(*a), a[2])


def run_learners(task, seed, table):
    """Add the test losses of our learner along its run, active and passive, on words and on the rivals' features."""
    for kind in ("words", "ridge"):
        for rule in ("coal", "passive"):
            name = f"{'coalface' if rule == 'coal' else 'passive'}, {kind}"
            about = {"data": task.name, "features": task.features, "learner": name, "seed": seed}
            if table.has(**about, asked="end"):
                continue
            points = along(task, kind, seed, rule=rule)
            points = points[-1:] if rule == "passive" else points
            asked = [*(str(share) for share in SHARES[: len(points) - 1]), "end"]
            rows = zip(asked, points, strict=True)
            table.add([{**about, "asked": a, "share": share, "loss": loss, "seconds": ""} for a, (share, loss) in rows])
            print(f"{task.name} {task.features} {seed} {name}: {points}", flush=True)


def run_losses(task, seed, table, heavy):
    """Add the test loss of every learner on one permutation."""
    rows = np.arange(len(task.loss_test))
    for name, share, predict in loss_jobs(task, seed, heavy):
        about = {"data": task.name, "features": task.features, "learner": name, "asked": share, "seed": seed}
        if table.has(**about):
            continue
        started = time.process_time()
        predicted, part = predict()
        mean = task.loss_test[rows, predicted.argmin(axis=1)].mean()
        table.add([{**about, "share": part, "loss": mean, "seconds": round(time.process_time() - started, 2)}])
        print(f"{task.name} {task.features} {seed} {name} {share}: {part:.3f} {mean:.4f}", flush=True)


def router_jobs(task, seed):
    """Who predicts losses where dollars count."""
    price = np.nanmean(task.dollars, axis=0)

    def router(kind, rule):
        model, (_, X, X_test) = {"words": "auto", "ridge": RidgeModel("light")}[kind], learner_of(task, kind, seed)
        made = Router(task.models, price, VALUE_OF_QUALITY, random_state=seed, model=model, rule=rule)
        known_parts = {"offset": made.offset(X), "asking_price": made.asking_price(X)}
        simulate(made.learner, X, task.loss, order=order_of(task, seed), **known_parts)
        return made.predicted_loss(X_test), made.outcomes_known_ / task.loss.size

    for kind in ("words", "ridge"):
        yield f"coalface, {kind}", "as it asks", lambda kind=kind: router(kind, "coal")
        yield f"passive, {kind}", "1.0", lambda kind=kind: router(kind, "passive")
    for share in SHARES[1:]:
        yield "random costs", str(share), lambda share=share: random_costs(task, share, seed)
    for kind in ("knn", "forest"):
        for share in (*SHARES[1:], 1.0):
            yield kind, str(share), lambda a=(kind, task, share, "examples", seed): (rival(*a), a[2])


def run_dollars(task, seed, table):
    """Add the trade-off between loss and dollars of every learner on one permutation."""
    price = np.broadcast_to(np.nanmean(task.dollars, axis=0), task.loss_test.shape)
    paid = np.where(np.isnan(task.dollars_test), price, task.dollars_test)
    for name, share, predict in router_jobs(task, seed):
        about = {"data": task.name, "features": task.features, "learner": name, "asked": share, "seed": seed}
        if table.has(**about, weight=0.0):
            continue
        predicted, part = predict()
        points = TradeOff.of(
            predicted, price, task.loss_test, paid, models=task.models, weights=WEIGHTS, chosen=VALUE_OF_QUALITY
        )
        lines = zip(points.quality_weight.tolist(), points.loss.tolist(), points.price.tolist(), strict=True)
        table.add([{**about, "weight": w, "share": part, "loss": lo, "dollars": d} for w, lo, d in lines])
        at = points.loss[points.chosen] * VALUE_OF_QUALITY + points.price[points.chosen]
        print(f"dollars {task.features} {seed} {name} {share}: {part:.3f} total {at:.5f}", flush=True)


def run(out, cache, permutations, tasks):
    """Run all permutations of these tasks, such as "routerbench:words"; the slow rivals only for the first ones."""
    out.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    key = ["data", "features", "learner", "asked", "seed"]
    losses = Table(out / "losses.csv", [*key, "share", "loss", "seconds"], key)
    dollars = Table(out / "dollars.csv", [*key, "weight", "share", "loss", "dollars"], [*key, "weight"])
    made = {}
    for seed in range(permutations):
        for name, features in (one.split(":") for one in tasks):
            task = made.get((name, features)) or task_of(name, features, cache)
            made[name, features] = task
            if task.dollars is not None:
                run_dollars(task, seed, dollars)
            run_learners(task, seed, losses)
            run_losses(task, seed, losses, heavy=seed < 3)


# -- report ----------------------------------------------------------------------------------------------------------


def report(out):
    """Write the tables and figures."""
    from routing_report import write_report

    write_report(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=["run", "report"])
    parser.add_argument("--out", type=Path, default=Path("studies/routing"))
    parser.add_argument("--cache", type=Path, default=Path("routing-cache"))
    parser.add_argument("--permutations", type=int, default=10)
    parser.add_argument("--tasks", nargs="+", default=["routerbench:words", "seven_models:words", "routerbench:minilm"])
    given = parser.parse_args()
    if given.verb == "run":
        run(given.out, given.cache, given.permutations, given.tasks)
    else:
        report(given.out)
