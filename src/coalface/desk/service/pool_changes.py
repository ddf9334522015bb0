"""Examples that come and go: new ones join the pool of a running project, others are retired and brought back.

New examples are written to the files of the pool first. They count from the commit of their event on, which says how
far the files count. So a process that is killed in between leaves no trace.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coalface.data import Examples, checked_examples
from coalface.desk.log.events import ADDED, RETIRED
from coalface.desk.log.store import QuestionRow
from coalface.desk.project.sources import GivenExample, Source, read_examples
from coalface.desk.service.checks import checked_text
from coalface.desk.service.project_state import ProjectState, Recording
from coalface.errors import ConflictError, InputError
from coalface.rounds import Event

_BLOCK = 2000  # examples added in one transaction


@dataclass(frozen=True)
class Added:
    """How many examples joined the pool, and how many it had already, with the same content."""

    added: int
    known: int


class PoolChanges:
    """Adds, retires and restores examples; each is one transaction or a few."""

    def __init__(self, state: ProjectState) -> None:
        self._state = state

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

        All of them are checked before the first is added. With ``first``, they come before all undecided ones; with
        ``in_order``, in the order given. ``features`` are needed in a project that was created with features of its
        own; others are computed without the lock, so that annotators need not wait.

        >>> from coalface.desk.service.desk import Desk
        >>> from coalface.desk.project.project import Project
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     desk = Desk(Project.create(f"{folder}/mail", [{"text": "hi"}], labels=["delivery", "refund"]))
        ...     desk.curation.add_examples([{"text": "hi"}, {"text": "My parcel is late"}]), len(desk.project.pool)
        ...     desk.close()
        (Added(added=1, known=1), 2)
        """
        given = list(read_examples(examples, self._state.project.pool.columns))
        rows = self._given_features(given, features)
        self._refuse_conflicts(given)
        added = 0
        for start in range(0, len(given), _BLOCK):
            block = given[start : start + _BLOCK]
            X = self._features(block) if rows is None else rows[start : start + len(block)]
            added += self._add(block, X, who, first=first, in_order=in_order)
        return Added(added, len(given) - added)

    def _given_features(self, given: Sequence[GivenExample], features: "Examples | None") -> "Examples | None":
        pool = self._state.project.pool
        if not pool.given_vectors:
            if features is not None:
                raise InputError("features must be left out: the project makes the features of its examples itself.")
            kind = next((one for one in given if one.content["kind"] != pool.kind), None)
            if kind is not None:
                raise InputError(
                    f"All examples must be of kind {pool.kind}, got {kind.id!r} of {kind.content['kind']}."
                )
            return None
        if features is None:
            raise InputError(
                f"The project has features of its own, so new examples need {pool.width} numbers each. Pass features."
            )
        X = checked_examples(features)
        if X.shape != (len(given), pool.width):
            raise InputError(
                f"features must have {len(given)} rows of {pool.width} numbers, got {X.shape}. Give a row per example."
            )
        return X

    def _refuse_conflicts(self, given: Sequence[GivenExample]) -> None:
        """Refuse an id that comes twice, or that belongs to another example of the pool."""
        pool, seen = self._state.project.pool, set[str]()
        for one in given:
            if one.id in seen:
                raise InputError(f"Ids must be distinct, got {one.id!r} twice. Remove or rename one of the examples.")
            seen.add(one.id)
            if one.file is None and pool.has(one.id) and pool.content(pool.place(one.id)) != one.content:
                raise ConflictError(f"The pool has another example {one.id!r}. Give the new one an id of its own.")

    def _add(self, block: Sequence[GivenExample], X: Any, who: str | None, *, first: bool, in_order: bool) -> int:
        """Add those of a block that the pool lacks; how many that are."""
        state, pool = self._state, self._state.project.pool
        with state.lock:
            new = [number for number, one in enumerate(block) if not pool.has(one.id)]
            if new:
                with state.recording() as record:
                    sizes = pool.append([block[number] for number in new], X[np.array(new, np.int64)])
                    after = state.counters.cursor if first else len(pool)
                    body = {**sizes._asdict(), "n": len(new), "after": after, "seed": state.project.seed}
                    body |= {"in_order": True} if in_order else {}
                    record.add(ADDED, body, who)
        return len(new)

    def _features(self, block: Sequence[GivenExample]) -> Any:
        files = ({} if one.file is None else {"file": str(one.file)} for one in block)
        return self._state.project.pool.rows_like([one.content | file for one, file in zip(block, files, strict=True)])

    def retire_examples(self, ids: Iterable[str], who: str | None = None, reason: str = "") -> int:
        """Ask about these examples no more and let the model forget them; the log keeps their answers.

        Returns how many of them were not retired before.
        """
        state, note = self._state, checked_text(reason)
        with state.lock:
            places = [place for place in map(state.project.pool.place, ids) if place not in state.counters.retired]
            withdrawn = [state.counters.closed[place] for place in places if place in state.counters.closed]
            if places:
                body = {"examples": places, "reason": note} | ({"withdrawn": withdrawn} if withdrawn else {})
                with state.recording() as record:
                    record.add(RETIRED, body, who)
                    for place in places:
                        record.withdraw_questions(place)
        return len(places)

    def restore_examples(self, ids: Iterable[str], who: str | None = None, reason: str = "") -> int:
        """Bring retired examples back with what is known about them; how many of them were retired."""
        state, note = self._state, checked_text(reason)
        with state.lock:
            retired = state.counters.retired
            back = {place: retired[place] for place in map(state.project.pool.place, ids) if place in retired}
            if back:
                with state.recording() as record:
                    record.add(RETIRED, {"examples": list(back), "reason": note, "back": True}, who)
                    for place, event in back.items():
                        _teach_again(record, place, None if event is None else state.log.get(event))
        return len(back)


def _teach_again(record: Recording, place: int, event: Event | None) -> None:
    """Let the model learn a restored example as before or, if it was answered meanwhile, from that answer."""
    if event is not None:
        record.repeat(event)
        return
    done: list[QuestionRow] = [row for row in record.store.about(place) if not row.open and row.round.costs]
    if done:
        record.teach_trusted(done[0], done[0].holder)
