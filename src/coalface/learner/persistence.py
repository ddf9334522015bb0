"""Learners that are kept: counted, saved to a file, recorded in a ledger, rebuilt from either, bit for bit."""

import os
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.labels import label_array
from coalface.errors import FileFormatError, InputError
from coalface.files.bundle import read_bundle, write_bundle
from coalface.kernels.state import COSTS_QUERIED, EXAMPLES_QUERIED, ROUND
from coalface.learner.budget import Budget, Counts
from coalface.learner.stopping import Saving, checked_saving, saves_less_than, saving_of
from coalface.models.contract import CostRegressors
from coalface.rounds.ledger import Ledger
from coalface.rounds.recorder import Recorder
from coalface.rounds.replay import check_recordable, replayed


class Kept:
    """What a learner needs besides learning: its counts, when to stop, ``save``, ``load`` and a ledger.

    It is mixed into estimators that make ``classes_`` and ``regressors_`` from their parameters in ``_ready``
    and learn checked rows in ``_tell``.
    """

    classes_: NDArray[Any]
    regressors_: CostRegressors
    n_features_in_: int
    cost_bounds: tuple[float, float]
    audit_rate: float
    feature_names_in_: NDArray[np.object_]
    _ready: Any
    _settings: Any
    _tell: Any
    _saved_regressors: Any
    _learned_with: tuple[str, ...]
    get_params: Any
    budget: Any

    @property
    def round_(self) -> int:
        """The round at which the next example is decided, from 1."""
        return self._counter(ROUND)

    @property
    def costs_queried_(self) -> int:
        """Single costs asked for so far."""
        return self._counter(COSTS_QUERIED)

    @property
    def examples_queried_(self) -> int:
        """Examples with at least one cost asked for so far."""
        return self._counter(EXAMPLES_QUERIED)

    @property
    def saving_(self) -> Saving | None:
        """What more asking could still save per example, at most; None where there is no basis for it.

        It takes audits (``audit_rate`` above 0) and at least a hundred rounds, told as they were asked: see ``Saving``.

        >>> from coalface import CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"], audit_rate=0.2)
        >>> learner.saving_ is None
        True
        >>> _ = simulate(learner, [[1.0, 0.0], [0.0, 1.0]] * 500, [[0.0, 1.0], [1.0, 0.0]] * 500)
        >>> learner.saving_.rounds, learner.saving_.high < 0.1
        (1000, True)
        """
        if not hasattr(self, "regressors_"):
            return None
        with self.regressors_.lock:
            return saving_of(self.regressors_.model, CostScale.of(self.cost_bounds))

    def should_stop(self, saving: float) -> bool:
        """Whether more asking would save less than ``saving`` per example: the whole interval lies below it.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(classes=["walk", "fly"], audit_rate=0.1).should_stop(saving=0.02)
        False
        """
        least = self._unit_saving("saving", saving)
        return hasattr(self, "regressors_") and saves_less_than(self.regressors_.model, least)

    def _unit_saving(self, name: str, saving: Any) -> float:
        return checked_saving(name, saving, CostScale.of(self.cost_bounds), self.audit_rate)

    @property
    def spent_(self) -> float:
        """What was spent so far, in the unit of the budget and since it began; without one, costs asked for.

        >>> from coalface import Budget, CoalClassifier
        >>> budget = Budget(price=100, over=50, price_per_example=3.0, price_per_cost=1.0)
        >>> CoalClassifier(["walk", "fly"], budget=budget).tell([[1.0]], [[0.2, 0.9]]).spent_
        5.0
        """
        if self.budget is None:
            return float(self.costs_queried_)
        budget = Budget.of(self.budget)
        examples, costs = self.examples_queried_ - budget.since.examples, self.costs_queried_ - budget.since.costs
        return budget.price_of(max(examples, 0), max(costs, 0))

    def start_budget(self, budget: Any) -> Self:
        """Begin a budget, or a new one, at the next example: what was asked for so far does not count against it.

        >>> from coalface import Budget, CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).partial_fit([[1.0]], ["walk"])
        >>> learner.start_budget(Budget(costs=100, over=1000)).spent_
        0.0
        """
        if "budget" not in self.get_params(deep=False):
            raise InputError(f"{type(self).__name__} has no budget. Pass max_costs to ask, or use CoalClassifier.")
        now = Counts(self.round_ - 1, self.examples_queried_, self.costs_queried_)
        self.budget = replace(Budget.of(budget), since=now)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to one file, atomically; ``load`` goes on exactly from there.

        >>> from coalface import CoalClassifier
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]]).save(f"{folder}/model.coalface")
        ...     CoalClassifier.load(f"{folder}/model.coalface").round_
        2
        """
        self._ready()
        check_recordable(self.classes_)
        meta: dict[str, Any] = {
            "params": self._plain_params(),
            "width": getattr(self, "n_features_in_", None),
        }
        if hasattr(self, "feature_names_in_"):
            meta["feature_names"] = self.feature_names_in_.tolist()
        with self.regressors_.lock:  # a row learned meanwhile would move the arrays under the writer
            write_bundle(path, "model", meta, {"classes_": self.classes_, **self.regressors_.arrays()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The learner that ``save`` wrote."""
        meta, arrays = read_bundle(path, "model")
        try:
            learner = cls(**meta["params"])
            learner.classes_ = label_array(arrays.pop("classes_"))
            learner._settings(len(learner.classes_))
            width = meta["width"]
        except (KeyError, TypeError, InputError) as problem:
            raise FileFormatError(f"{path} was not saved by {cls.__name__}.save: {problem}.") from None
        learner.regressors_ = learner._saved_regressors(len(learner.classes_), arrays)
        if width is not None:
            learner.n_features_in_ = width
        if "feature_names" in meta:
            learner.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
        return learner

    def record_to(self, ledger: Ledger) -> Self:
        """Write every question and answer from now on to an empty ledger, before it is learned."""
        self._ready()
        if self.round_ != 1 or self.regressors_.model.answered.any() or self.costs_queried_:
            raise InputError(
                f"A ledger must see a learner from its first round, this one is at round {self.round_} with "
                f"{self.costs_queried_} costs asked for."
            )
        check_recordable(self.classes_)
        ledger.begin({"params": self._plain_params(), "classes": self.classes_.tolist()})
        self._recorder = Recorder(ledger, self._learned_with, vars(self))
        return self

    @classmethod
    def from_ledger(cls, ledger: Ledger) -> Self:
        """The learner that the ledger's entries make, bit for bit; it goes on recording there.

        >>> from coalface import CoalClassifier, MemoryLedger
        >>> ledger = MemoryLedger()
        >>> learner = CoalClassifier(["walk", "fly"]).record_to(ledger).tell([[1.0]], [[0.2, 0.9]])
        >>> (CoalClassifier.from_ledger(ledger).predict_cost([[1.0]]) == learner.predict_cost([[1.0]])).all()
        np.True_
        """
        if ledger.header is None:
            raise InputError("This ledger is empty; attach it to a new learner with learner.record_to(ledger).")
        try:
            learner = cls(**{**ledger.header["params"], "classes": ledger.header["classes"]})
            learner._ready()
        except (KeyError, TypeError, InputError) as problem:
            raise FileFormatError(f"The header of this ledger was not written by record_to: {problem}.") from None
        for told in replayed(ledger, learner.classes_):
            learner._tell(None, told.rows, learner.classes_, told.cost, told.asked, told.candidates, late=told.late)
            if told.names is not None:
                learner.feature_names_in_ = np.array(told.names, dtype=object)
        learner._recorder = Recorder(ledger, learner._learned_with, vars(learner))
        return learner

    def _recorder_in_use(self) -> Recorder | None:
        """The recorder, if there is one, after making sure that it can follow what is learned now."""
        recorder: Recorder | None = getattr(self, "_recorder", None)
        if recorder is not None:
            recorder.check(vars(self))
        return recorder

    def _plain_params(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        params = self.get_params(deep=False)
        if self.budget is not None:
            params["budget"] = Budget.of(self.budget).plain()
        return {name: np.asarray(value).tolist() if value is not None else None for name, value in params.items()}

    def __getstate__(self) -> dict[str, Any]:
        """A copy does not write to the ledger of the original."""
        inherited: Any = super()
        state: dict[str, Any] = dict(inherited.__getstate__())
        state.pop("_recorder", None)
        return state

    def _counter(self, which: int) -> int:
        if not hasattr(self, "regressors_"):
            return 1 if which == ROUND else 0
        return int(self.regressors_.model.counters[which])
