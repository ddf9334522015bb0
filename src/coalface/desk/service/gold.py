"""Gold questions: examples with known costs, mixed in among an annotator's questions to see how well they are answered.

An annotator cannot tell them from others, and gets each at most once. Their answers are kept and paid for like others,
but the model does not learn them: it knows the example already.
"""

import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING

from coalface.desk.log.store import Row
from coalface.desk.service.project_state import ProjectState
from coalface.rounds.round import Round

if TYPE_CHECKING:
    from coalface.desk.service.queue import QuestionQueue


class GoldQuestions:
    """Leases gold questions, at the rate that the project sets. The caller holds the lock of the project's state."""

    def __init__(self, state: ProjectState, queue: "QuestionQueue") -> None:
        self._state, self._queue = state, queue

    def take(self, annotator: str, lasting: float) -> Row | None:
        """A gold question for this annotator, if it is time for one and one is left."""
        state = self._state
        if not state.project.gold or not state.counters.review.gold or not self._is_time(annotator):
            return None
        example = self._next(annotator)
        if example is None:
            return None
        labels = tuple(label for label in state.project.offered if label in state.counters.review.gold[example])
        asking = labels[:1] if state.project.true_label else labels  # a true label counts as one cost
        fitting = state.limits.n_fitting(self._queue.committed() + state.limits.spent_on(1), asking)
        if not fitting:
            return None
        with state.recording() as record:
            copies = [row.copy for row in state.store.about(example)]
            row = Row(
                number=0,  # the database sets it
                example=example,
                copy=max(copies, default=-1) + 1,
                open=True,
                step=0,
                asking=fitting,
                decided=state.counters.learned,
                round=Round(state.project.pool.turn(example), ask=labels),
                lease=secrets.token_urlsafe(12),
                holder=annotator,
                expires=record.now + lasting,
            )
            row = state.store.insert(record.connection, row)
            self._queue.record_lease(record, row, lasting)
        return row

    def _is_time(self, annotator: str) -> bool:
        """Drawn from the annotator's number of examples, so that it repeats exactly and nobody can foresee it."""
        done = self._state.counters.workers.get(annotator)
        seen = 0 if done is None else done.spent.examples
        text = f"{self._state.project.id} {self._state.project.seed} {annotator} {seen}".encode("utf-8", "replace")
        share = int.from_bytes(blake2b(text, digest_size=8).digest(), "little") / 2.0**64
        return share < self._state.project.gold

    def _next(self, annotator: str) -> int | None:
        """The first gold example that this annotator has neither answered nor held."""
        for example in self._state.counters.review.gold:
            if example in self._state.counters.retired:
                continue
            given = self._state.log.about(example)
            if not any(event.who == annotator and event.kind in ("leased", "answered") for event in given):
                return example
        return None
