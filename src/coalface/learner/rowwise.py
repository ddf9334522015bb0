"""One sparse example at a time, without explanations: the short way for services."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.costs import as_cost_array
from coalface.data.rows import check_row
from coalface.errors import InputError, UnknownLabelError
from coalface.learner import rounds
from coalface.models.contract import CostRegressors


class RowByRow:
    """``ask_row`` and ``tell_row`` for a learner that asks and tells rows."""

    classes_: NDArray[Any]
    regressors_: CostRegressors
    audit_rate: float
    _ready: Any
    _settings: Any
    _decide: Any
    _tell: Any

    def ask_row(self, indices: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """The labels to ask about for one sparse example, the most promising first: for services.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).ask_row(indices=[3, 17], values=[1.0, 0.5]).tolist()
        ['walk', 'fly']
        """
        self._ready()
        rows = check_row(indices, values, getattr(self, "n_features_in_", 0))
        found = rounds.ask(self.regressors_, self._settings(), rows, None)
        asked = np.flatnonzero(found.mask[0])
        return np.asarray(self.classes_[asked[np.argsort(found.predicted[0, asked], kind="stable")]])

    def tell_row(self, indices: ArrayLike, values: ArrayLike, labels: Any, costs: ArrayLike) -> Self:
        """Learn the costs of some labels of one sparse example and close its round: for services.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).tell_row([3, 17], [1.0, 0.5], ["fly"], [0.9]).round_
        2
        """
        self._ready()
        rows = check_row(indices, values, getattr(self, "n_features_in_", 0))
        codes, given = self._codes(labels), as_cost_array([costs])[0]
        if given.shape != (len(codes),):
            raise InputError(f"costs must have one number per label, {len(codes)}, got shape {given.shape}.")
        cost, asked = np.full((1, len(self.classes_)), np.nan), np.zeros((1, len(self.classes_)), np.bool_)
        cost[0, codes], asked[0, codes] = given, True
        if np.count_nonzero(asked) < len(codes):
            raise InputError(f"labels must name each label once, got {np.asarray(labels).tolist()!r}.")
        queries = self._decide(rows, None) if self.audit_rate > 0 else None  # what ask_row looked at
        put = asked if queries is None else queries.put(asked)
        self._tell(None, rows, self.classes_, cost, put, None, late=False)
        return self

    def _codes(self, labels: Any) -> list[int]:
        """The numbers of a few labels, by a dictionary that is made once."""
        names = np.asarray(labels).ravel().tolist()
        if not hasattr(self, "_code_of"):
            self._code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        try:
            return [self._code_of[name] for name in names]
        except KeyError as unknown:
            raise UnknownLabelError(unknown.args[0], self.classes_.tolist()) from None
