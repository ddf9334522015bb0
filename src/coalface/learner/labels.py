"""Labels that come and go: a learner that has begun takes new labels, renames labels and retires them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import check_cost_matrix
from coalface.errors import InputError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import ROUND
from coalface.learner.account import plain_budget
from coalface.learner.budget import Budget
from coalface.learner.monitor import rare_labels
from coalface.learner.state import LearnerState, answers_of, begin, is_begun, resolve_classes
from coalface.learner.teaching import all_params, new_recorder
from coalface.learner.widening import LabelsThen, keep
from coalface.models.contract import CostModel
from coalface.rounds.label_change import ADD, RENAME, RETIRE, LabelChange, LabelSet, Matrix


class Labels(NamedTuple):
    """The labels in the order of their columns, which of them are not retired, and which are rare.

    ``rare`` has those that were best of fewer than 10 answered examples, with how often; the rarest come first.
    Predictions of such a label are guesses: tell some examples of it, or ask for more.

    >>> from coalface import CoalClassifier
    >>> CoalClassifier(["walk", "fly"]).tell([[1.0]] * 20, [[0.2, 0.9]] * 20).labels_.rare
    {'fly': 0}
    """

    classes: NDArray[Any]
    active: NDArray[np.bool_]
    rare: dict[Any, int]

    @property
    def retired(self) -> list[Any]:
        """The labels that are retired."""
        return list(self.classes[~self.active].tolist())


def labels_of(learner: LearnerState) -> Labels:
    """The labels of a learner; before it begins, those that it was given."""
    if not is_begun(learner):
        classes = resolve_classes(learner, None, None)
        return Labels(classes, np.ones(len(classes), np.bool_), {})
    return Labels(learner.classes_, learner.model_.active, rare_labels(learner))


def label_set(learner: LearnerState) -> LabelSet:
    """The labels as ledgers and logs know them."""
    return LabelSet(learner.classes_, learner.model_.active)


def add_label(learner: LearnerState, label: Any, cost_matrix: Any = None) -> None:
    """Add a label, or bring back a retired one: see ``CoalClassifier.add_label``."""
    begin(learner)
    label, number = _plain(label), _next_round(learner)
    after = label_set(learner).after(LabelChange(ADD, label, number))
    matrix = _matrix_after(learner, after, cost_matrix)
    if learner.budget is not None:
        Budget.of(learner.budget).prices_of(after.classes.tolist())  # refuses a label without a price
    change_labels(learner, LabelChange(ADD, label, number, cost_matrix=matrix))


def rename_label(learner: LearnerState, old: Any, new: Any) -> None:
    """Rename a label; nothing else changes, and a budget with a price per label keeps its price."""
    begin(learner)
    change_labels(learner, LabelChange(RENAME, _plain(old), _next_round(learner), new_name=_plain(new)))


def retire_label(learner: LearnerState, label: Any) -> None:
    """Retire a label: see ``CoalClassifier.retire_label``."""
    begin(learner)
    change_labels(learner, LabelChange(RETIRE, _plain(label), _next_round(learner)))


def change_labels(learner: LearnerState, change: LabelChange) -> None:
    """Make a change that a ledger or a log has recorded; after an error, nothing has changed."""
    before, after = label_set(learner), label_set(learner).after(change)
    answers_of(learner, after.classes)  # the name of abstaining must stay distinct
    if len(after.classes) > len(before.classes):
        _refuse_model_without_growth(learner)
    recorder = learner._recorder
    with interrupts_put_off(), learner.model_.lock:
        if recorder is not None:
            recorder.write([change], all_params(learner), plain_budget(learner))
        try:
            _apply(learner, change, after)
        except BaseException:
            if recorder is not None:
                recorder.incomplete = True
            raise
        if recorder is not None:
            learner._recorder = new_recorder(learner, recorder.ledger, has_encoder=recorder.has_encoder)


def _apply(learner: LearnerState, change: LabelChange, after: LabelSet) -> None:
    if learner.cost_matrix is not None:
        before = check_cost_matrix(learner.cost_matrix, learner.classes_)  # a data frame would keep the old names
        learner.cost_matrix = before if change.cost_matrix is None else np.array(change.cost_matrix)
    if change.kind == RENAME and learner.budget is not None:
        learner.budget = Budget.of(learner.budget).renamed(change.label, change.new_name)
    added = None
    if len(after.classes) > len(learner.classes_):
        begun = change.round > 1 or _next_round(learner) > 1
        added = change.round if begun else 0  # before the first round, it is one of the first
        learner.model_.add_label(added)
    learner.classes_ = after.classes
    learner.model_.set_active(after.active)
    keep(learner, LabelsThen(after.active, added))
    if learner.classes is not None:
        learner.classes = after.classes
    learner._begun_with = {**learner._begun_with, "classes": learner.classes}
    learner._said = learner._said - {"unanswered"}


def _next_round(learner: LearnerState) -> int:
    return int(learner.model_.state.counters[ROUND])


def _matrix_after(learner: LearnerState, after: LabelSet, matrix: Any) -> Matrix | None:
    """The known costs of all labels after a label is added; None if there are none, or no label is new."""
    n_before, n_after = len(learner.classes_), len(after.classes)
    needed = learner.cost_matrix is not None and n_after > n_before
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
    if not np.array_equal(wider[:n_before, :n_before], check_cost_matrix(learner.cost_matrix, learner.classes_)):
        raise InputError("cost_matrix must keep the costs of the earlier labels; only the new row and column vary.")
    return tuple(tuple(row) for row in wider.tolist())


def _refuse_model_without_growth(learner: LearnerState) -> None:
    model = learner.model_
    if type(model).grow is CostModel.grow and type(model).add_label is CostModel.add_label:
        model.grow()  # says that it cannot


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
