"""Routing between language models: test loss against the share of outcomes bought, and loss against dollars.

Run it with the folder ``llm_routing`` in ``$COALFACE_DATA``::

    python studies/routing.py run --out studies/routing --cache CACHE --processes 4
    python studies/routing.py report --out studies/routing

``run`` adds lines to ``losses.csv`` and ``dollars.csv.gz``, skips what they have, and can be stopped at any time.
Vectors of sentences are computed once and kept in the cache, as ``NAME-train.npy`` and ``NAME-test.npy``. ``report``
writes the tables and figures. Test prompts with an unknown outcome are left out.
"""

import argparse
import csv
import gzip
import io
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

from baselines.regressors import drawn_costs, predicted_costs
from coalface import Coal, CoalClassifier, RidgeModel, simulate
from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.encoding.encoder import Encoder
from coalface.routing import Router, TradeOff
from routing_report import rows_in

SHARES = (0.05, 0.1, 0.2)
N_COMPONENTS, N_TREES, N_NEIGHBOURS = 100, 50, 40
TAIL = 800  # characters embedded: prompts of RouterBench begin with the same examples, and the question is at the end
VALUE_OF_QUALITY = 0.05  # dollars for a wrong answer
IN_FULL = 150  # prompts of a line that begins with all outcomes of some
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
    X, X_test = features_of(name, features, [[row["text"] for row in part] for part in (train, test)], cache)
    known = ~np.isnan(numbers(test, "cost", models)).any(axis=1)
    test, X_test = [row for row, is_known in zip(test, known, strict=True) if is_known], X_test[known]
    compact, compact_test = compact_of(name, features, X, X_test, cache)
    money = "dollars" in train[0]
    return Task(
        name, features, models, X, X_test, compact, compact_test,
        numbers(train, "cost", models), numbers(test, "cost", models),
        numbers(train, "dollars", models) if money else None, numbers(test, "dollars", models) if money else None,
    )  # fmt: skip


def features_of(name, features, texts, cache):
    """The features of training and test prompts, kept in the cache."""
    ending = "npy" if features == "minilm" else "npz"
    files = [Path(cache, f"{name}-{part}.{ending}") for part in ("train", "test")]
    if features == "minilm":
        if not all(file.exists() for file in files):
            for file, part in zip(files, texts, strict=True):
                np.save(file, SentenceEmbedder()([text[-TAIL:] for text in part]).astype(np.float16))
        return tuple(np.load(file).astype(np.float32) for file in files)
    if not all(file.exists() for file in files):
        encoder = Encoder().fit([{"text": text} for text in texts[0]])
        for file, part in zip(files, texts, strict=True):
            save_npz(file, csr_array(encoder.transform([{"text": text} for text in part])))
    return tuple(csr_array(load_npz(file)) for file in files)


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
    """A new learner, and the features that it takes: the words, or what the rivals have (all other kinds)."""
    model = {"ridge": RidgeModel("light"), "online": "online", "joint": "joint"}.get(kind, "auto")
    made = CoalClassifier(task.models, random_state=seed, model=model, **settings)
    if kind == "words":
        return made, task.X, task.X_test
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
    """Lines of a CSV file, which may be packed by gzip; a line is made once."""

    def __init__(self, path, columns, key):
        self.path, self.columns, self.key = path, columns, key
        self.rows = rows_in(path) if path.exists() else []
        self.have = {tuple(row[name] for name in key) for row in self.rows}

    def has(self, **values):
        """Whether there is a line with these values."""
        return tuple(str(values[name]) for name in self.key) in self.have

    def add(self, rows):
        """Add lines."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        if not self.path.exists():
            writer.writeheader()
        writer.writerows(rows)
        plain = text.getvalue().encode()
        with self.path.open("ab") as file:  # packed files one after another are one packed file
            file.write(gzip.compress(plain, mtime=0) if self.path.suffix == ".gz" else plain)
        self.have |= {tuple(str(row[name]) for name in self.key) for row in rows}


def our_lines(task, number):
    """Our lines of a permutation, the first of which has number 0; each as in ``lines_of``."""
    if task.dollars is not None:
        yield "dollars", "coalface, joint", "as it asks", ("router", "joint", "coal", "auto")
        yield "dollars", f"coalface, joint, {IN_FULL} in full", "as it asks", ("router", "joint", "coal", IN_FULL)
    for kind in ("words", "dense", "ridge") if task.features == "words" else ("dense", "ridge", "online"):
        passive = kind in ("words", "online") or (kind == "ridge" and number == 0)  # the order matters not to ridge
        for rule in ("coal", "passive") if passive else ("coal",):
            name = f"{'coalface' if rule == 'coal' else 'passive'}, {kind}"
            yield "losses", name, "end", ("along", kind, rule)
            if task.dollars is not None:
                yield "dollars", name, "as it asks" if rule == "coal" else "1.0", ("router", kind, rule, "auto")


def lines_of(task, number):
    """The lines of a permutation: the table, the learner, what is asked for, and how it is computed."""
    yield from our_lines(task, number)
    kinds = ("knn", "forest") if number < 3 else ("knn",)  # forests are slow
    for table in ("losses", "dollars") if task.dollars is not None else ("losses",):
        for share in SHARES:
            if task.features == "words":
                yield table, "random costs", str(share), ("random", share)
            for kind in kinds:
                yield table, f"{kind}, examples", str(share), ("rival", kind, "examples", share)
                yield table, f"{kind}, costs", str(share), ("rival", kind, "costs", share)
        for kind in kinds if number == 0 else ():  # with all outcomes, the order does not matter
            yield table, kind, "1.0", ("rival", kind, "examples", 1.0)


def predicted_by(task, seed, what, *of):
    """The predicted test losses of a line, and the share of outcomes that it bought."""
    if what == "random":
        return random_costs(task, *of, seed)
    if what == "rival":
        kind, drawn, share = of
        return rival(kind, task, share, drawn, seed), share
    kind, rule, warm_up = of
    learner, X, X_test = learner_of(task, kind, seed)
    price = np.nanmean(task.dollars, axis=0)
    own = {} if learner.model == "auto" and rule == "coal" else {"model": learner.model}  # else the router's default
    made = Router(task.models, price, VALUE_OF_QUALITY, random_state=seed, rule=Coal(rule, warm_up=warm_up), **own)
    known_parts = {"offset": made.offset(X), "asking_price": made.asking_price(X)}
    simulate(made.learner, X, task.loss, order=order_of(task, seed), **known_parts)
    return made.predicted_loss(X_test), made.outcomes_known_ / task.loss.size


def loss_rows(task, seed, about, how):
    """The rows of losses.csv: our learner along its run, passive at its end, a rival at its share."""
    started = time.process_time()
    if how[0] == "along":
        points = along(task, how[1], seed, rule=how[2])
        points = points[-1:] if how[2] == "passive" else points
        asked = [*(str(share) for share in SHARES[: len(points) - 1]), "end"]
    else:
        predicted, share = predicted_by(task, seed, *how)
        mean = task.loss_test[np.arange(len(predicted)), predicted.argmin(axis=1)].mean()
        points, asked = [(share, mean)], [about["asked"]]
    seconds = round(time.process_time() - started, 2)
    rows = zip(asked, points, strict=True)
    return [{**about, "asked": a, "share": share, "loss": loss, "seconds": seconds} for a, (share, loss) in rows]


def dollar_rows(task, seed, about, how):
    """The rows of dollars.csv.gz: the trade-off between loss and dollars."""
    price = np.broadcast_to(np.nanmean(task.dollars, axis=0), task.loss_test.shape)
    paid = np.where(np.isnan(task.dollars_test), price, task.dollars_test)
    predicted, part = predicted_by(task, seed, *how)
    points = TradeOff.of(
        predicted, price, task.loss_test, paid, models=task.models, weights=WEIGHTS, chosen=VALUE_OF_QUALITY
    )
    lines = zip(points.quality_weight.tolist(), points.loss.tolist(), points.price.tolist(), strict=True)
    return [{**about, "weight": w, "share": part, "loss": lo, "dollars": d} for w, lo, d in lines]


MADE = {}


def measured(name, features, cache, seed, table, learner, asked, how):
    """The table of a line, and its rows."""
    if (name, features) not in MADE:
        MADE[name, features] = task_of(name, features, cache)
    task = MADE[name, features]
    about = {"data": name, "features": features, "learner": learner, "asked": asked, "seed": seed}
    return table, (loss_rows if table == "losses" else dollar_rows)(task, seed, about, how)


def run(out, cache, seeds, tasks, processes, learners=""):
    """Run these permutations of these tasks, such as "routerbench:words", if the learner's name contains a word."""
    out.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    key = ["data", "features", "learner", "asked", "seed"]
    tables = {
        "losses": Table(out / "losses.csv", [*key, "share", "loss", "seconds"], key),
        "dollars": Table(out / "dollars.csv.gz", [*key, "weight", "share", "loss", "dollars"], key),
    }
    for name, features in (one.split(":") for one in tasks):  # before the processes start, so that all have them
        MADE[name, features] = task_of(name, features, cache)
    wanted = [
        (*one, cache, seed, table, learner, asked, how)
        for seed in seeds
        for one, task in MADE.items()
        for table, learner, asked, how in lines_of(task, seed - seeds.start)
        if learners in learner
        and not tables[table].has(data=one[0], features=one[1], learner=learner, asked=asked, seed=seed)
    ]
    with ProcessPoolExecutor(processes) as pool:
        for each in as_completed([pool.submit(measured, *one) for one in wanted]):
            table, rows = each.result()
            tables[table].add(rows)
            print(table, *list(rows[-1].values())[:5], f"{rows[-1]['share']:.3f} {rows[-1]['loss']:.4f}", flush=True)


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
    parser.add_argument("--first", type=int, default=10, help="the first permutation; choices were made on 0 to 2")
    parser.add_argument("--permutations", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--learners", default="", help="only those whose name contains this word")
    names = [f"{data}:{features}" for data in ("routerbench", "seven_models") for features in ("words", "minilm")]
    parser.add_argument("--tasks", nargs="+", default=names)
    given = parser.parse_args()
    if given.verb == "run":
        seeds = range(given.first, given.first + given.permutations)
        run(given.out, given.cache, seeds, given.tasks, given.processes, given.learners)
    else:
        report(given.out)
