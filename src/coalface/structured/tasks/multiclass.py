"""Multiclass classification as a search task: one decision among all labels, or a path of yes-or-no decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coalface.data import flag, label_array, label_codes
from coalface.errors import InputError, shortened
from coalface.structured.task import Action, Features, SearchTask


@dataclass(frozen=True, eq=False)
class _Choice:
    """A state: the features of an example, the column of its true label if known, and the actions taken."""

    features: Features
    truth: int | None
    taken: tuple[Action, ...] = ()


class MulticlassTask(SearchTask[Any, _Choice]):
    """Gives an example one of ``labels``; an example is (features, label), or only features for ``predict``.

    With ``binary``, a label is reached by about log2(K) decisions between "0" and "1", each with weights of its own, so
    that predicting takes time in proportion to log2(K). The loss is 0 or 1, or an entry of ``cost_matrix`` (row =
    truth, column = prediction).

    >>> from coalface.structured import SearchLearner
    >>> examples = [({"wings": 1.0}, "fly"), ({"legs": 1.0}, "walk"), ({"fins": 1.0}, "swim")] * 20
    >>> learner = SearchLearner(MulticlassTask(["fly", "walk", "swim"], binary=True)).fit(examples)
    >>> learner.predict([{"legs": 1.0}, {"fins": 1.0}])
    ['walk', 'swim']
    """

    def __init__(self, labels: Sequence[Action], cost_matrix: ArrayLike | None = None, *, binary: bool = False) -> None:
        self.labels = label_array(labels, "labels")
        n_labels = len(self.labels)
        try:
            costs = 1.0 - np.eye(n_labels) if cost_matrix is None else np.asarray(cost_matrix, np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"cost_matrix must have {n_labels} rows and columns of numbers of at least 0, got "
                f"{shortened(cost_matrix)}."
            ) from None
        if costs.shape != (n_labels, n_labels) or not np.isfinite(costs).all() or costs.min() < 0:
            raise InputError(
                f"cost_matrix must have {n_labels} rows and columns of numbers of at least 0, got shape {costs.shape}."
            )
        self._costs, self.binary = costs, flag("binary", binary)
        self.scale = max(float(costs.max()), 1e-12)
        names: list[Action] = self.labels.tolist()
        n_bits = max(n_labels - 1, 1).bit_length()
        self._paths: list[tuple[Action, ...]] = [(name,) for name in names]
        if self.binary:
            self._paths = [tuple(format(column, f"0{n_bits}b")) for column in range(n_labels)]
        self.actions = ("0", "1") if self.binary else names

    def start(self, example: Any) -> _Choice:
        """The state before any decision."""
        if isinstance(example, tuple) and len(example) == 2:
            features, label = example
            return _Choice(features, None if label is None else int(label_codes([label], self.labels)[0]))
        return _Choice(example, None)

    def finished(self, state: _Choice) -> bool:
        """Whether a label is reached."""
        return len(state.taken) == len(self._paths[0])

    def allowed(self, state: _Choice) -> list[Action]:
        """The actions that lead to some label."""
        place = len(state.taken)
        return sorted({self._paths[column][place] for column in self._reachable(state.taken)}, key=self.actions.index)

    def step(self, state: _Choice, action: Action) -> _Choice:
        """The state after an action."""
        return replace(state, taken=(*state.taken, action))

    def features(self, state: _Choice) -> Features:
        """Those of the example; with ``binary``, each decision has its own."""
        if not self.binary:
            return state.features
        named = isinstance(state.features, Mapping)
        node = "".join(map(str, state.taken))
        try:
            pairs = state.features.items() if isinstance(state.features, Mapping) else enumerate(state.features)
            return {f"{node}|{name}": float(value) for name, value in pairs if named or value != 0}
        except (TypeError, ValueError):
            raise InputError(
                f"features must be a mapping or one row of numbers, got {shortened(state.features)}."
            ) from None

    def reference(self, state: _Choice) -> Action:
        """The action towards the least cost that can still be reached."""
        reachable, costs = self._reachable(state.taken), self._costs[_truth(state)]
        best = min(reachable, key=lambda column: float(costs[column]))
        return self._paths[best][len(state.taken)]

    def loss(self, state: _Choice) -> float:
        """The cost of the label."""
        return self.reference_loss(state)

    def rollout(self, state: _Choice, action: Action) -> float:
        """The least cost that can still be reached after an action."""
        return self.reference_loss(self.step(state, action))

    def reference_loss(self, state: _Choice) -> float:
        """The least cost that can still be reached."""
        return float(self._costs[_truth(state), self._reachable(state.taken)].min())

    def output(self, state: _Choice) -> Action:
        """The label."""
        label: Action = self.labels[self._reachable(state.taken)[0]].item()
        return label

    def _reachable(self, taken: tuple[Action, ...]) -> list[int]:
        """The columns of the labels whose path begins with these actions."""
        return [column for column, path in enumerate(self._paths) if path[: len(taken)] == taken]


def _truth(state: _Choice) -> int:
    if state.truth is None:
        raise InputError("an example must have a label to be learned or scored, got none. Pass (features, label).")
    return state.truth
