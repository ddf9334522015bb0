"""``LabelChange``: a label is added, renamed or retired between two rounds; ledgers and logs keep it among the rounds.

The columns of labels never move: a new label gets the last column, and a retired one keeps its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_array
from coalface.errors import InputError, UnknownLabelError, shortened

ADD, RENAME, RETIRE = "add", "rename", "retire"
_KINDS = (ADD, RENAME, RETIRE)
Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class LabelChange:
    """One change of the labels: ``kind`` is "add", "rename" or "retire", ``round`` the first round after it.

    Adding a retired label brings it back. A new label of a learner with known costs of true labels comes with
    ``cost_matrix``, the costs of all labels. In a ledger, ``budget`` is the one that began just before the change,
    empty if one ended.

    >>> change = LabelChange("rename", "walk", round=14, new_name="hike")
    >>> LabelChange.from_json(change.to_json()) == change
    True
    >>> change.to_json()
    {'labels': 'rename', 'label': 'walk', 'round': 14, 'new_name': 'hike'}
    """

    kind: str
    label: Any
    round: int
    new_name: Any = None
    cost_matrix: Matrix | None = None
    budget: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """The change as plain JSON values."""
        line = {"labels": self.kind, "label": self.label, "round": self.round}
        line |= {} if self.new_name is None else {"new_name": self.new_name}
        line |= {} if self.budget is None else {"budget": dict(self.budget)}
        return line | ({} if self.cost_matrix is None else {"cost_matrix": [list(row) for row in self.cost_matrix]})

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> "LabelChange":
        """Parse what ``to_json`` returned; a ValueError says what is wrong."""
        matrix = line.get("cost_matrix")
        try:
            parsed = cls(
                line["labels"],
                line["label"],
                int(line["round"]),
                line.get("new_name"),
                None if matrix is None else tuple(tuple(float(cost) for cost in row) for row in matrix),
                line.get("budget"),
            )
        except (KeyError, TypeError) as problem:
            raise ValueError(f"a change of labels has no usable {problem}") from None
        if parsed.kind not in _KINDS:
            raise ValueError(f'"labels" must be one of {", ".join(map(repr, _KINDS))}, got {shortened(parsed.kind)}')
        if not isinstance(parsed.budget, Mapping | None):
            raise ValueError(f'"budget" must be an object, got {shortened(parsed.budget)}')
        return parsed


def change_of(
    add: Any = None, rename: Any = None, to: Any = None, retire: Any = None, cost_matrix: Any = None
) -> LabelChange:
    """The one change that is asked for, at no round yet; an InputError if there is not exactly one.

    >>> change_of(rename="walk", to="hike")
    LabelChange(kind='rename', label='walk', round=0, new_name='hike', cost_matrix=None, budget=None)
    """
    given = [name for name, value in (("add", add), ("rename", rename), ("retire", retire)) if value is not None]
    if len(given) != 1:
        raise InputError(
            f"Exactly one of add, rename and retire must be given, got {', '.join(given) or 'none'}. Pass one."
        )
    if (rename is None) != (to is None):
        raise InputError("rename needs the new name too, and no other change has one. Pass both or neither.")
    matrix = None if cost_matrix is None else tuple(tuple(float(cost) for cost in row) for row in cost_matrix)
    if add is not None:
        return LabelChange(ADD, add, 0, cost_matrix=matrix)
    if matrix is not None:
        raise InputError("A cost matrix must come with a label that is added, got none. Leave it out.")
    return LabelChange(RETIRE, retire, 0) if rename is None else LabelChange(RENAME, rename, 0, new_name=to)


class LabelSet(NamedTuple):
    """The labels in the order of their columns, and which of them are not retired.

    >>> labels = LabelSet.of(["walk", "fly"]).after(LabelChange("add", "swim", round=9))
    >>> labels.after(LabelChange("retire", "fly", round=12))
    LabelSet(classes=array(['walk', 'fly', 'swim'], dtype='<U4'), active=array([ True, False,  True]))
    """

    classes: NDArray[Any]
    active: NDArray[np.bool_]

    @classmethod
    def of(cls, labels: Any) -> "LabelSet":
        """These labels, none of them retired."""
        classes = label_array(labels)
        return cls(classes, np.ones(len(classes), np.bool_))

    def has(self, label: Any) -> bool:
        """Whether there is such a label, retired or not."""
        return label in self.classes.tolist()

    def after(self, change: LabelChange) -> "LabelSet":
        """The labels after a change; an InputError if it is impossible."""
        if change.kind == ADD:
            return self._after_adding(change.label)
        if change.kind == RENAME:
            return self._after_renaming(self._column(change.label), change.new_name)
        return self._after_retiring(self._column(change.label))

    def _after_adding(self, label: Any) -> "LabelSet":
        if not self.has(label):
            return LabelSet(self._checked([*self.classes.tolist(), label], label), np.append(self.active, True))
        column = self._column(label)
        if self.active[column]:
            raise InputError(f"The label {label!r} exists already. Add one with another name.")
        active = self.active.copy()
        active[column] = True
        return LabelSet(self.classes, active)

    def _after_renaming(self, column: int, name: Any) -> "LabelSet":
        if self.has(name):
            raise InputError(
                f"The label {self.classes[column].item()!r} cannot be renamed to {name!r}, because that label exists "
                "already. Choose another name."
            )
        names = self.classes.tolist()
        names[column] = name
        return LabelSet(self._checked(names, name), self.active)

    def _after_retiring(self, column: int) -> "LabelSet":
        label = self.classes[column].item()
        if not self.active[column]:
            raise InputError(f"The label {label!r} is retired already. Adding it again brings it back.")
        if self.active.sum() == 1:
            raise InputError(f"The label {label!r} cannot be retired, because it is the only one left. Add one first.")
        active = self.active.copy()
        active[column] = False
        return LabelSet(self.classes, active)

    def _checked(self, names: list[Any], name: Any) -> NDArray[Any]:
        """The names as an array of the same kind as before."""
        found, kind = label_array(names), self.classes.dtype.kind
        if found.dtype.kind != kind or name == "":
            raise InputError(
                f"A label must be like the others, such as {self.classes[0].item()!r}, got {name!r}. Choose such a "
                "name."
            )
        return found

    def _column(self, label: Any) -> int:
        names: list[Any] = self.classes.tolist()
        if label not in names:
            raise UnknownLabelError(label, names)
        return names.index(label)
