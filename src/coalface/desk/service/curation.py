"""What engineers and reviewers change without questions: examples that come and go, and costs that they give.

The log keeps what was there before beside the correction and its reason. The model learns the correction in place of
what it replaces: it is rebuilt without the old answer. Costs of an example that was passed over are learned as late
ones, because its round is counted already.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from coalface.desk.log.events import SETTLED, rounds_in
from coalface.desk.service.checks import checked_name, checked_text
from coalface.desk.service.pool_changes import PoolChanges
from coalface.desk.service.project_state import Recording
from coalface.errors import ConflictError, InputError, UnknownLabelError
from coalface.rounds import Costs, Event, Round

REVIEW, IMPORT, LABEL_STUDIO = "review", "import", "label-studio"  # the sources of costs
_BLOCK = 500  # examples settled in one transaction


class _Settlement(NamedTuple):
    """The costs of one example, checked; empty if what is known is taken back. The same ``ref`` counts once."""

    example: int
    costs: Costs
    more: dict[str, Any]  # further fields of the event
    ref: str | None = None


@dataclass(frozen=True)
class Settled:
    """How many examples were settled, and how many were left as they were, because they were known already."""

    settled: int
    known: int


class Curation(PoolChanges):
    """The changes that a desk makes for engineers and reviewers; each is one transaction or a few."""

    def import_costs(
        self, records: Sequence[Mapping[str, Any]], who: str | None = None, *, gold: bool = False
    ) -> Settled:
        """Let the model learn true labels or costs that exist already; examples with known costs keep theirs.

        Each record is ``{"id", "label"}`` or ``{"id", "costs"}``. Nothing of it counts against the budget.
        ``gold`` ones replace what is known, and annotators are asked about them to see how well they answer. The same
        gold question again changes nothing.
        """
        wanted = [self._imported(name, label, costs, gold=gold) for name, label, costs in _imported(records)]
        with self._state.lock:
            self._check_settlements(wanted)  # all of them, because they are settled in several transactions
            return self._settle_all(wanted, who, IMPORT, "", replaces=gold)

    def check(self, records: Sequence[Mapping[str, Any]], ids: Iterable[str], coming: Container[str] = ()) -> None:
        """Raise an error if costs could not be imported, or an id is not in the pool nor among those ``coming``."""
        for name, label, costs in _imported(records):
            if name in coming:
                self._named_costs(name, label, costs)
            else:
                self._imported(name, label, costs)
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
        ref = None if key is None else f"settle:{checked_name('key', key)}"
        one = self._settlement(example_id, label, costs, ref=ref)
        if not one.costs:
            raise InputError("A correction must give at least one cost, or the true label, got none. Give one of them.")
        why = checked_text(reason, "A correction needs a reason, got none. Write why it is right.")
        with self._state.lock:
            return self._settle_all([one], who, REVIEW, why, replaces=True)

    def annotate(self, who: str, example_id: str, labels: Sequence[str], annotation: str, version: str) -> Settled:
        """Take an annotation of Label Studio: one label is the true one, several are all right.

        A later version of the annotation replaces an earlier one; the same version counts once.
        """
        names, (low, high) = [self._state.known_label(label) for label in labels], self._state.project.cost_bounds
        costs = {label: low if label in names else high for label in self._state.project.offered}
        truth = names[0] if len(names) == 1 else None
        ref = f"settle:{LABEL_STUDIO}:{annotation}:{version}"
        one = self._settlement(example_id, truth, {} if truth else costs, ref=ref, annotation=annotation)
        with self._state.lock:
            return self._settle_all([one], who, LABEL_STUDIO, "", replaces=True)

    def withdraw_annotation(self, who: str, annotation: str) -> Settled:
        """Take back what an annotation of Label Studio said, if that still counts."""
        with self._state.lock:
            closed = self._state.counters.closed
            about = [
                _Settlement(
                    event.example, {}, {"annotation": annotation}, f"settle:{LABEL_STUDIO}:{annotation}:deleted"
                )
                for event in self._state.log.read(kinds=[SETTLED])
                if event.example is not None
                and event.body.get("annotation") == annotation
                and closed.get(event.example) in (event.id, event.body.get("confirms"))
            ]
            return self._settle_all(about[-1:], who, LABEL_STUDIO, "", replaces=True)

    def _settlement(
        self, example_id: str, label: str | None, costs: Mapping[str, Any], *, ref: str | None = None, **more: Any
    ) -> _Settlement:
        """The costs of an example, checked."""
        place = self._state.project.pool.place(example_id)
        known, truth = self._costs(label, costs)
        return _Settlement(place, known, more if truth is None else {**more, "truth_given": truth}, ref)

    def _imported(
        self, example_id: str, label: str | None, costs: Mapping[str, Any], *, gold: bool = False
    ) -> _Settlement:
        """The costs of an example of a file; an error names the example."""
        place = self._state.project.pool.place(example_id)
        known, truth = self._named_costs(example_id, label, costs)
        more = {} if truth is None else {"truth_given": truth}
        return _Settlement(place, known, more | ({"gold": True} if gold else {}))

    def _named_costs(self, example_id: str, label: str | None, costs: Mapping[str, Any]) -> tuple[Costs, str | None]:
        """The checked costs, and the true label if one is given; an error names the example."""
        try:
            return self._costs(label, costs)
        except UnknownLabelError as problem:
            raise UnknownLabelError(problem.label, self._state.project.labels, of=f"example {example_id!r}") from None
        except InputError as problem:
            raise InputError(f"Example {example_id!r}: {problem}") from None

    def _costs(self, label: str | None, costs: Mapping[str, Any]) -> tuple[Costs, str | None]:
        """The checked costs, and the true label if one is given."""
        project = self._state.project
        if label is None:
            named = {self._state.known_label(str(name)): cost for name, cost in costs.items()}
            return project.scale.checked(named), None
        truth = self._state.known_label(label)
        return dict(zip(project.labels, project.costs_of_truth(truth).tolist(), strict=True)), truth

    # -- settling; the caller holds the lock of the project's state -----------------------------

    def _settle_all(
        self, wanted: Sequence[_Settlement], who: str | None, source: str, reason: str, *, replaces: bool
    ) -> Settled:
        """Let the costs count, in the order given; without ``replaces``, only those of examples without known costs."""
        settled = known = 0
        for start in range(0, len(wanted), _BLOCK):
            with self._state.recording() as record:
                for one in wanted[start : start + _BLOCK]:
                    if not self._settle(record, one, who, {"source": source, "reason": reason}, replaces=replaces):
                        known += 1
            settled += sum(event.kind == SETTLED for event in record.events)
        return Settled(settled, known)

    def _check_settlements(self, wanted: Sequence[_Settlement]) -> None:
        """Raise an error if an example comes twice or is retired, before anything is settled."""
        seen = set[int]()
        for one in wanted:
            self._refuse_retired(one)
            if one.example in seen:
                raise self._twice(one)
            seen.add(one.example)

    def _refuse_retired(self, one: _Settlement) -> None:
        if one.example in self._state.counters.retired:
            name = self._state.project.pool.example_id(one.example)
            raise ConflictError(f"The example {name!r} is retired. Restore it first.")

    def _twice(self, one: _Settlement) -> InputError:
        name = self._state.project.pool.example_id(one.example)
        return InputError(f"An example must come once, got {name!r} twice. Remove one.")

    def _settle(
        self, record: Recording, one: _Settlement, who: str | None, about: dict[str, Any], *, replaces: bool
    ) -> bool:
        state = self._state
        self._refuse_retired(one)
        if one.ref is not None and (record.has(one.ref) or state.log.named(one.ref) is not None):
            return False
        if record.settles(one.example):
            raise self._twice(one)
        earlier = state.counters.closed.get(one.example)
        if earlier is not None and not replaces:
            return False
        known = None if earlier is None else state.log.get(earlier)
        before = None if known is None else rounds_in(known)[0][1]
        after = self._after(before, one, who)
        if "gold" in one.more and before is not None and self._is_gold(one.example, before, after):
            return False
        body = {**after.to_json(), **about, **one.more}
        if before is not None and dict(before.costs) == dict(after.costs):
            body["confirms"] = earlier
        elif earlier is not None:
            body["closed"] = earlier
        record.settle(Event(SETTLED, record.now, who, example=one.example, ref=one.ref, body=body), after)
        record.withdraw_questions(one.example)
        return True

    def _is_gold(self, example: int, before: Round, after: Round) -> bool:
        """Whether an example is a gold question already, with these very costs."""
        expected = {label: cost for label, cost in after.costs.items() if cost is not None}
        return dict(before.costs) == dict(after.costs) and self._state.counters.review.gold.get(example) == expected

    def _after(self, before: Round | None, one: _Settlement, who: str | None) -> Round:
        """The round with the new costs; labels that are not mentioned keep theirs, unless all are taken back."""
        if before is None:
            turn = self._state.project.pool.turn(one.example)
            before = Round(turn, late=self._state.counters.was_passed(one.example))
        costs = {**before.costs, **one.costs} if one.costs else {}
        authors = dict.fromkeys(one.costs, who) if who is not None else {}
        return replace(
            before,
            ask_truth=False,
            truth=None,
            costs=costs,
            unasked=tuple(label for label in costs if label not in before.ask),
            by={**before.by, **authors} if costs else {},
        )


def _imported(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str | None, dict[str, Any]]]:
    """The id, the true label if one is given, and the costs of each record.

    A record is ``{"id", "label"}``, or ``{"id", "costs": {label: cost}}`` as the JSON lines of an export have it.

    >>> _imported([{"id": 7, "label": "refund"}, {"id": "8", "costs": {"refund": 0.5}, "content": {}}])
    [('7', 'refund', {}), ('8', None, {'refund': 0.5})]
    """
    found = []
    for record in records:
        if not isinstance(record, Mapping) or record.get("id") in (None, ""):
            raise InputError(f'Known costs must have the "id" of an example, got {record!r:.80}. Add it.')
        label, costs = record.get("label"), record.get("costs", {})
        if not isinstance(costs, Mapping) or (label is None) != bool(costs):
            raise InputError(
                f'Known costs must have "label", the true label, or "costs" by label, got {record!r:.80}. Give one.'
            )
        found.append((str(record["id"]), None if label is None else str(label), dict(costs)))
    return found
