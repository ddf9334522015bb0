"""Makes a problem small enough for baselines that need a dense table: fewer directions of features, fewer examples.

``directions`` are the leading singular directions of the training features, for data with more features than that.
``most_examples`` keeps the first examples of the order, as a user of these baselines would take a part of a large pool.
"""

from dataclasses import replace
from typing import Any

from coalface.data.dataset import CostDataset
from coalface.data.numbers import whole_number
from coalface.data.rows import checked_examples

from .baseline import Problem

REDUCED = {"directions": None, "most_examples": None}


def check_reduced(parameters: dict[str, Any]) -> None:
    """Raise an InputError unless both are None or whole numbers of at least 1."""
    for name in REDUCED:
        if parameters[name] is not None:
            whole_number(name, parameters[name], least=1)


def reduced(problem: Problem, parameters: dict[str, Any]) -> Problem:
    """The problem with at most so many directions and examples; the same problem if neither is set."""
    most, directions = parameters["most_examples"], parameters["directions"]
    if most is not None:
        problem = replace(problem, examples=problem.examples.subset(slice(0, int(most))))
    if directions is None or problem.examples.X.shape[1] <= directions:
        return problem
    from sklearn.decomposition import TruncatedSVD

    reduce = TruncatedSVD(int(directions), n_iter=3, random_state=0).fit(problem.examples.X)

    def fewer(part: CostDataset) -> CostDataset:
        return part.with_fields(X=checked_examples(reduce.transform(part.X)), feature_names=None)

    return replace(problem, examples=fewer(problem.examples), test=fewer(problem.test))
