"""Draw docs/figures/which-model.svg, each cost model on each kind of data: ``make figure`` (some minutes)."""

from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from coalface import CoalClassifier, simulate
from coalface.evaluate.curve import Curve
from coalface.evaluate.summary import AXIS_LABELS, panel
from coalface.models.online import OnlineModel
from coalface.models.ridge import RidgeModel
from coalface.report.charts import Panel, Style, draw_curves
from coalface.report.figure_style import RULES, standalone

PERMUTATIONS = range(5)
TRAINING_SHARE = 0.7
MISSED_TUMOUR, FALSE_ALARM = 1.0, 0.2
AXIS = "costs_queried"
MODELS: dict[str, tuple[Any, Style]] = {
    "online": ("online", Style(RULES["coal"], 0, 1)),
    "online, products": (OnlineModel(interactions=2), Style(RULES["coal"], 1, 2)),
    "ridge": ("ridge", Style(RULES["vw"], 0, 3)),
    "ridge, rbf": (RidgeModel(kernel="rbf"), Style(RULES["vw"], 1, 4)),
    "forest": ("forest", Style(RULES["random-forest"], 0, 5)),
    "auto": ("auto", Style(RULES["default"], 2, 0)),  # the last line, so that it shows where it equals another
}


class Problem(NamedTuple):
    """Examples and the costs of their labels, how to run them, and models that would take too long."""

    X: Any
    cost: NDArray[np.float64]
    scaled: bool = False  # centre the columns and scale them to variance 1
    left_out: tuple[str, ...] = ()


def zero_one(y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cost 0 for the right label and 1 for the others."""
    return 1.0 - np.eye(int(y.max()) + 1)[y]


def sparse_text(n_rows: int = 1_500, n_labels: int = 8, n_words: int = 1_200, length: int = 30) -> Problem:
    """Unit rows of words with Zipf-like popularity, and words that belong to a label; labels form a binary tree.

    As in ``benchmarks.problems``, but with so few words that the ridge model can learn them too.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(n_labels, size=n_rows)
    popularity = 1.0 / (np.arange(n_words) + 20.0)
    common = rng.choice(n_words, size=(n_rows, length), p=popularity / popularity.sum())
    own = (y[:, None] * 101 + rng.geometric(0.02, size=common.shape)) % n_words
    words = np.where(rng.random(common.shape) < 0.25, own, common)
    weights = rng.lognormal(size=words.shape) * np.log(2.0 + words)
    X = csr_array((weights.ravel(), words.ravel(), np.arange(n_rows + 1) * length), shape=(n_rows, n_words))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    labels = np.arange(n_labels)
    height = np.frexp(labels[:, None] ^ labels)[1]
    return Problem(X, (height / height.max())[y], left_out=("forest",))


def problems() -> dict[str, Problem]:
    """The data of the panels by their titles."""
    digits, digit = load_digits(return_X_y=True)
    wines, wine = load_wine(return_X_y=True)
    tumours, benign = load_breast_cancer(return_X_y=True)
    harm = np.array([[0.0, MISSED_TUMOUR], [FALSE_ALARM, 0.0]])[benign]
    return {
        "images: digits": Problem(digits, zero_one(digit)),
        "raw table: breast cancer": Problem(tumours, harm),
        "raw table: wine": Problem(wines, zero_one(wine)),
        "sparse text: synthetic": sparse_text(),
        "scaled table: breast cancer": Problem(tumours, harm, scaled=True),
        "scaled table: wine": Problem(wines, zero_one(wine), scaled=True),
    }


def run(problem: Problem, model: Any, seed: int) -> Curve:
    """One run over a random training set; the other rows are for testing."""
    shuffled = np.random.default_rng(seed).permutation(len(problem.cost))
    train, test = np.split(shuffled, [int(TRAINING_SHARE * len(shuffled))])
    X, X_test = problem.X[train], problem.X[test]
    if problem.scaled:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    learner = CoalClassifier(classes=range(problem.cost.shape[1]), model=model)
    return simulate(
        learner, X, problem.cost[train], X_test=X_test, cost_test=problem.cost[test], checkpoints="quarter-doubling"
    )


def panel_of(title: str, problem: Problem) -> Panel:
    """The curves of every model on one problem; prints the medians of their ends."""
    lines = []
    for name, (model, style) in MODELS.items():
        if name in problem.left_out:
            continue
        curves = [run(problem, model, seed) for seed in PERMUTATIONS]
        ends = [(curve.costs_queried[-1], curve.test_cost[-1]) for curve in curves]
        asked, cost = (float(median(numbers)) for numbers in zip(*ends, strict=True))
        share = asked / (TRAINING_SHARE * problem.cost.size)
        print(f"{title} | {name} | {asked:.0f} costs ({share:.0%}) | test cost {cost:.3f}", flush=True)
        lines.append((name, style, curves))
    return panel(title, AXIS_LABELS[AXIS], lines, AXIS, start=10.0 * problem.cost.shape[1])


def main() -> None:
    """Draw the figure."""
    panels = [panel_of(title, problem) for title, problem in problems().items()]
    svg = standalone(draw_curves(panels, "Test cost against costs asked for, by cost model"))
    Path(__file__).with_name("which-model.svg").write_text(svg + "\n")


if __name__ == "__main__":
    main()
