"""Labels that were never seen: features of labels against one regressor per label, on the intents of clinc150.

Some of the intents are held out. The learners see only texts of the others, and then classify new texts of both kinds
among all intents. An intent is described by its name and three sentences. Its features for a text are the similarities
of the text to that description, by words and by parts of words. One regressor per label has the words of the text.
Costs are 0 and 1.

    COALFACE_DATA=data python studies/unseen_labels.py --seeds 3
"""

import argparse
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from coalface import CoalClassifier, SharedModel

HELD_OUT, N_TRAIN, N_TEST, N_SENTENCES = 30, 1_000, 300, 3
Rows = NDArray[np.int64]


def read(folder: Path) -> tuple[list[str], list[str]]:
    """All texts and their intents."""
    with gzip.open(folder / "clinc150" / "raw.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [text for _, _, text in lines], [intent for _, intent, _ in lines]


def similarities(texts: list[str], names: list[str], sentences: list[list[str]]) -> NDArray[np.float64]:
    """The features (n, K, 6) of each intent of each text: its name, the nearest sentence, and their mean, twice."""
    parts = []
    for options in ({"sublinear_tf": True}, {"analyzer": "char_wb", "ngram_range": (3, 4), "sublinear_tf": True}):
        vectorizer: Any = TfidfVectorizer(**options).fit(texts)
        vectors = vectorizer.transform(texts)
        by_sentence = [
            (vectors @ vectorizer.transform([one[place] for one in sentences]).T).toarray()
            for place in range(N_SENTENCES)
        ]
        by_name = (vectors @ vectorizer.transform(names).T).toarray()
        parts += [by_name, np.max(by_sentence, axis=0), np.mean(by_sentence, axis=0)]
    return np.stack(parts, axis=2)


def one_seed(seed: int, texts: list[str], intents: list[str]) -> dict[str, tuple[float, ...]]:
    """By learner: the costs asked for, and the accuracy on texts of seen and of unseen intents."""
    random, names = np.random.default_rng(seed), sorted(set(intents))
    held_out = np.isin(np.arange(len(names)), random.permutation(len(names))[:HELD_OUT])
    truth, order = np.array([names.index(intent) for intent in intents]), random.permutation(len(texts))
    described = [order[truth[order] == k][:N_SENTENCES] for k in range(len(names))]
    rest = order[~np.isin(order, np.concatenate(described))]
    seen, unseen = rest[~held_out[truth[rest]]], rest[held_out[truth[rest]]]
    chosen = np.concatenate([seen[: N_TRAIN + N_TEST], unseen[:N_TEST]])
    sentences = [[texts[i] for i in rows] for rows in described]
    used, truth = [texts[i] for i in chosen], truth[chosen]
    features = similarities(used, [name.replace("_", " ") for name in names], sentences)
    train, tests = np.arange(N_TRAIN), (N_TRAIN + np.arange(N_TEST), N_TRAIN + N_TEST + np.arange(N_TEST))
    nearest = [float((features[rows, :, 5].argmax(axis=1) == truth[rows]).mean()) for rows in tests]
    found: dict[str, tuple[float, ...]] = {"nearest description": (0, *nearest)}
    found["shared, online"] = _shared(SharedModel(), features, truth, held_out, train, tests)
    found["shared, ridge"] = _shared(SharedModel("ridge"), features, truth, held_out, train, tests)
    words = TfidfVectorizer(sublinear_tf=True).fit_transform(used)
    learner = CoalClassifier(np.flatnonzero(~held_out).tolist(), model="online")
    learner.interview(words[train], lambda i, label: float(label != truth[i]))
    right = [float((learner.predict(words[rows]) == truth[rows]).mean()) for rows in tests]
    found["online, per label"] = (learner.costs_queried_, *right)
    return found


def _shared(
    model: Any,
    features: NDArray[np.float64],
    truth: Rows,
    held_out: NDArray[np.bool_],
    train: Rows,
    tests: tuple[Rows, ...],
) -> tuple[float, ...]:
    learner, without = CoalClassifier(range(len(held_out)), model=model), features[train]
    without[:, held_out] = np.nan
    learner.interview(None, lambda i, label: float(label != truth[i]), candidates=without)
    right = [float((learner.predict(None, candidates=features[rows]) == truth[rows]).mean()) for rows in tests]
    return (learner.costs_queried_, *right)


def main() -> None:
    """Print the costs asked for and the accuracies, each seed and their mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    n_seeds, data = parser.parse_args().seeds, read(Path(os.environ["COALFACE_DATA"]))
    runs = [one_seed(seed, *data) for seed in range(n_seeds)]
    print("learner, costs asked for, accuracy on seen intents, on unseen intents; one line per seed, then the mean")
    for name in runs[0]:
        lines = np.array([run[name] for run in runs])
        for line in [*lines, lines.mean(axis=0)]:
            print(f"{name:20} {line[0]:9,.0f} {line[1]:.3f} {line[2]:.3f}")


if __name__ == "__main__":
    main()
