"""Labels that come and go: a learner that has begun takes new labels, renames labels and retires them."""

from typing import Any, Self

import numpy as np

from coalface.data.costs import check_cost_matrix
from coalface.errors import InputError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import ROUND
from coalface.learner.asking import AskingLearner
from coalface.learner.budget import Budget
from coalface.models.contract import CostModel
from coalface.rounds.label_change import ADD, RENAME, RETIRE, LabelChange, LabelSet, Matrix

_CACHED = ("_code_of", "_warned_unanswered")  # what depends on the labels


class LabelLearner(AskingLearner):
    """A learner whose labels can change between two rounds; a ledger records each change before it is made."""

    @property
    def labels_(self) -> LabelSet:
        """The labels in the order of their columns, and which of them are not retired."""
        return LabelSet(self.classes_, self.model_.active)

    def add_label(self, label: Any, *, cost_matrix: Any = None) -> Self:
        """Add a label, in the last column, or bring back a retired one with what it has learned.

        A new label is uncertain: it is asked about on the next examples, ``warm_up`` of them or 10. Until its first
        answer any cost is possible, and it is not predicted. The other labels keep what they have learned. A learner
        with a ``cost_matrix`` needs the matrix of all labels, the new one last; the earlier costs must stay.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"], model="online").tell([[1.0]] * 50, [[0.2, 0.9]] * 50)
        >>> learner.add_label("swim").classes_.tolist()
        ['walk', 'fly', 'swim']
        >>> learner.ask([[1.0]]).reasons[0, 2].item(), learner.cost_range([[1.0]]).width[0, 2].item()
        ('new label', 1.0)
        """
        label = _plain(label)
        after = self.begin().labels_.after(LabelChange(ADD, label, self.round_))
        matrix = self._matrix_after(after, cost_matrix)
        if self.budget is not None:
            Budget.of(self.budget).prices_of(after.classes.tolist())  # refuses a label without a price
        return self.change_labels(LabelChange(ADD, label, self.round_, cost_matrix=matrix))

    def rename_label(self, old: Any, new: Any) -> Self:
        """Rename a label; nothing else changes, and a budget with a price per label keeps its price.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.rename_label("walk", "hike").predict([[1.0]]).tolist()
        ['hike']
        """
        return self.begin().change_labels(LabelChange(RENAME, _plain(old), self.round_, new_name=_plain(new)))

    def retire_label(self, label: Any) -> Self:
        """Retire a label: it is never predicted or asked about again, unless ``add_label`` brings it back.

        Its column and all that it has learned are kept. Costs of it that are told later are learned too.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]] * 9, [[0.2, 0.9]] * 9).retire_label("walk")
        >>> learner.predict([[1.0]]).tolist(), learner.retired_, learner.predict_cost([[1.0]]).shape
        (['fly'], ['walk'], (1, 2))
        """
        return self.begin().change_labels(LabelChange(RETIRE, _plain(label), self.round_))

    @property
    def retired_(self) -> list[Any]:
        """The labels that are retired, in the order of their columns."""
        if not hasattr(self, "model_"):
            return []
        classes, active = self.labels_
        return list(classes[~active].tolist())

    def change_labels(self, change: LabelChange) -> Self:
        """Make a change that a ledger or a log has recorded; after an error, nothing has changed."""
        before, after = self.labels_, self.labels_.after(change)
        self._predictions(after.classes)  # the name of abstaining must stay distinct
        if len(after.classes) > len(before.classes):
            self._refuse_model_without_growth()
        recorder = self._recorder
        with interrupts_put_off(), self.model_.lock:
            if recorder is not None:
                recorder.write([change], self._all_params(), self.plain_budget)
            try:
                self._apply(change, after)
            except BaseException:
                if recorder is not None:
                    recorder.incomplete = True
                raise
            if recorder is not None:
                self._recorder = self._new_recorder(recorder.ledger, has_encoder=recorder.has_encoder)
        return self

    def _apply(self, change: LabelChange, after: LabelSet) -> None:
        if self.cost_matrix is not None:
            before = check_cost_matrix(self.cost_matrix, self.classes_)  # a data frame would keep the old names
            self.cost_matrix = before if change.cost_matrix is None else np.array(change.cost_matrix)
        if change.kind == RENAME and self.budget is not None:
            self.budget = Budget.of(self.budget).renamed(change.label, change.new_name)
        if len(after.classes) > len(self.classes_):
            begun = change.round > 1 or int(self.model_.state.counters[ROUND]) > 1
            self.model_.add_label(change.round if begun else 0)  # before the first round, it is one of the first
        self.classes_ = after.classes
        self.model_.set_active(after.active)
        if self.classes is not None:
            self.classes = after.classes
        self._begun_with = {**self._begun_with, "classes": self.classes}
        for name in _CACHED:
            self.__dict__.pop(name, None)

    def _matrix_after(self, after: LabelSet, matrix: Any) -> Matrix | None:
        """The known costs of all labels after a label is added; None if there are none, or no label is new."""
        n_before, n_after = len(self.classes_), len(after.classes)
        needed = self.cost_matrix is not None and n_after > n_before
        if matrix is None and not needed:
            return None
        if not needed:
            raise InputError("cost_matrix must be left out, because the label does not change the known costs.")
        if matrix is None:
            raise InputError(
                f"The learner has a cost_matrix, so a new label needs the costs of all {n_after} labels. Pass "
                "cost_matrix=..., row = truth, with the new label last."
            )
        wider = check_cost_matrix(matrix, after.classes)
        if not np.array_equal(wider[:n_before, :n_before], check_cost_matrix(self.cost_matrix, self.classes_)):
            raise InputError("cost_matrix must keep the costs of the earlier labels; only the new row and column vary.")
        return tuple(tuple(row) for row in wider.tolist())

    def _refuse_model_without_growth(self) -> None:
        if type(self.model_).grow is CostModel.grow and type(self.model_).add_label is CostModel.add_label:
            self.model_.grow()  # says that it cannot


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
