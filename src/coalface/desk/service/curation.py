"""What engineers and reviewers change without questions: examples that come and go, and costs that they give."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coalface.desk.log.events import SETTLED
from coalface.desk.project.sources import Source
from coalface.desk.service.checks import checked_name, checked_reason, given_reason
from coalface.desk.service.pool_changes import Added, PoolChanges
from coalface.desk.service.project_state import ProjectState
from coalface.desk.service.settling import IMPORT, LABEL_STUDIO, REVIEW, Costs, Settled, Settlement, Settling, imported
from coalface.errors import InputError, UnknownLabelError


class Curation:
    """The changes that a desk makes for engineers and reviewers; each is one transaction or a few."""

    def __init__(self, state: ProjectState) -> None:
        self._state = state
        self._pool_changes, self._settling = PoolChanges(state), Settling(state)

    def add_examples(
        self,
        examples: Source,
        who: str | None = None,
        *,
        features: Any = None,
        first: bool = False,
        in_order: bool = False,
    ) -> Added:
        """Add the examples of a file or a list that the pool does not have; questions about them come after the others.

        With ``first``, they come before all undecided ones; with ``in_order``, in the order given. ``features`` are
        needed in a project that was created with features of its own.

        >>> from coalface.desk.service.desk import Desk
        >>> from coalface.desk.project.project import Project
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     desk = Desk(Project.create(f"{folder}/mail", [{"text": "hi"}], labels=["delivery", "refund"]))
        ...     desk.curation.add_examples([{"text": "hi"}, {"text": "My parcel is late"}]), len(desk.project.pool)
        ...     desk.close()
        (Added(added=1, known=1), 2)
        """
        return self._pool_changes.add(examples, who, features, first=first, in_order=in_order)

    def retire_examples(self, ids: Iterable[str], who: str | None = None, reason: str = "") -> int:
        """Ask about these examples no more and let the model forget them; the log keeps their answers.

        Returns how many of them were not retired before.
        """
        note = checked_reason(reason)
        with self._state.lock:
            return self._pool_changes.retire(list(ids), who, note)

    def restore_examples(self, ids: Iterable[str], who: str | None = None, reason: str = "") -> int:
        """Bring retired examples back with what is known about them; how many of them were retired."""
        note = checked_reason(reason)
        with self._state.lock:
            return self._pool_changes.restore(list(ids), who, note)

    def import_costs(
        self, records: Sequence[Mapping[str, Any]], who: str | None = None, *, gold: bool = False
    ) -> Settled:
        """Let the model learn true labels or costs that exist already; examples with known costs keep theirs.

        Each record is ``{"id", "label"}`` or ``{"id", "costs"}``. Nothing of it counts against the budget.
        ``gold`` ones replace what is known, and annotators are asked about them to see how well they answer. The same
        gold question again changes nothing.
        """
        wanted = [self._imported(name, label, costs, gold=gold) for name, label, costs in imported(records)]
        with self._state.lock:
            self._settling.check(wanted)  # all of them, because they are settled in several transactions
            return self._settling.settle(wanted, who, IMPORT, "", replaces=gold)

    def check(self, records: Sequence[Mapping[str, Any]], ids: Iterable[str], coming: Container[str] = ()) -> None:
        """Raise an error if costs could not be imported, or an id is not in the pool nor among those ``coming``."""
        for name, label, costs in imported(records):
            if name in coming:
                self._named_costs(name, label, costs)
            else:
                self._imported(name, label, costs, gold=False)
        for name in ids:
            if name not in coming:
                self._state.project.pool.place(name)

    def correct(
        self,
        who: str,
        example_id: str,
        costs: Mapping[str, float | None],
        reason: str,
        *,
        label: str | None = None,
        key: str | None = None,
    ) -> Settled:
        """Correct the costs of an example, or give its true ``label``; the log keeps the answers beside the reason.

        Labels that are not mentioned keep their costs. The same ``key`` counts once.
        """
        one = self._settlement(example_id, label, costs, key=None if key is None else checked_name("key", key))
        if not one.costs:
            raise InputError("A correction must give at least one cost, or the true label, got none.")
        why = given_reason(reason)
        with self._state.lock:
            found = self._settling.settle([one], who, REVIEW, why, replaces=True)
            self._state.release_trusted()
            return found

    def annotate(self, who: str, example_id: str, labels: Sequence[str], annotation: str, version: str) -> Settled:
        """Take an annotation of Label Studio: one label is the true one, several are all right.

        A later version of the annotation replaces an earlier one; the same version counts once.
        """
        names, (low, high) = [self._state.known_label(label) for label in labels], self._state.project.cost_bounds
        costs = {label: low if label in names else high for label in self._state.project.offered}
        truth = names[0] if len(names) == 1 else None
        one = self._settlement(example_id, truth, {} if truth else costs, key=f"{LABEL_STUDIO}:{annotation}:{version}")
        with self._state.lock:
            wanted = [replace(one, more={"annotation": annotation})]
            return self._settling.settle(wanted, who, LABEL_STUDIO, "", replaces=True)

    def withdraw_annotation(self, who: str, annotation: str) -> Settled:
        """Take back what an annotation of Label Studio said, if that still counts."""
        with self._state.lock:
            closed = self._state.counters.closed
            about = [
                Settlement(event.example, {}, f"{LABEL_STUDIO}:{annotation}:deleted", more={"annotation": annotation})
                for event in self._state.log.read(kinds=[SETTLED])
                if event.example is not None
                and event.body.get("annotation") == annotation
                and closed.get(event.example) in (event.id, event.body.get("confirms"))
            ]
            return self._settling.settle(about[-1:], who, LABEL_STUDIO, "", replaces=True)

    def _imported(self, example_id: str, label: str | None, costs: Mapping[str, Any], *, gold: bool) -> Settlement:
        """The costs of an example; an error names the example."""
        place = self._state.project.pool.place(example_id)
        return Settlement(place, *self._named_costs(example_id, label, costs), gold=gold)

    def _settlement(
        self, example_id: str, label: str | None, costs: Mapping[str, Any], *, key: str | None = None
    ) -> Settlement:
        """The costs of an example, checked."""
        place = self._state.project.pool.place(example_id)
        known, truth = self._costs(label, costs)
        return Settlement(place, known, key, truth)

    def _named_costs(
        self, example_id: str, label: str | None, costs: Mapping[str, Any]
    ) -> tuple[Costs, None, str | None]:
        """The costs, no key, and the true label if one is given."""
        try:
            known, truth = self._costs(label, costs)
        except UnknownLabelError as problem:
            raise UnknownLabelError(problem.label, self._state.project.labels, of=f"example {example_id!r}") from None
        except InputError as problem:
            raise InputError(f"Example {example_id!r}: {problem}") from None
        return known, None, truth

    def _costs(self, label: str | None, costs: Mapping[str, Any]) -> tuple[Costs, str | None]:
        """The checked costs, and the true label if one is given."""
        project = self._state.project
        if label is None:
            named = {self._state.known_label(str(name)): cost for name, cost in costs.items()}
            return project.scale.checked(named), None
        truth = self._state.known_label(label)
        return dict(zip(project.labels, project.costs_of_truth(truth).tolist(), strict=True)), truth
