"""The model of a project: a fold over its log, kept up with it, made anew where an answer was taken back."""

import logging
import warnings
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from threading import Condition, RLock, Thread
from typing import Any

from coalface.errors import CoalfaceError, ConflictError, in_one_line
from coalface.learner.coal import CoalClassifier
from coalface.models.online import OnlineModel
from coalface.rounds.event_log import Event, EventLog
from coalface.service.desk.replay import CLOSED, PASSED, UNDONE, Lesson, lessons_in, teach, undone_in
from coalface.service.project.project import Project

SNAPSHOT = "snapshot"  # the kind of event that says what a file of a model stands for
_TEACHING = (PASSED, CLOSED, UNDONE)
_LEARNING = (*CoalClassifier._learned_with, "in_turn", "rule", "slack", "random_state")  # what a fold hangs on
_LONGEST_PAUSE = 60.0  # seconds between two attempts to make it anew


class LiveModel:
    """The learner as the log has it; ``take_in`` follows the log.

    Where an answer is taken back, the log is folded anew in the background; until that is done, the old learner stays,
    ``rebuilding`` is true and, should it fail, ``problem`` says why. It is tried again and again.
    """

    def __init__(self, project: Project, log: EventLog) -> None:
        self._project, self._log = project, log
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._builder: Thread | None = None
        self._failures = 0  # of making it anew
        self._closed = False
        self.kept = (0, 0)  # the snapshot it began with: its last event, and how many examples it had asked about
        self.problem: str | None = None
        with log.database.one_moment():
            self.learner, self.last = self._newest()  # the last event that taught it something

    @property
    def rebuilding(self) -> bool:
        """Whether answers were taken back that the model still knows."""
        return self._builder is not None

    def take_in(self, event: Event) -> None:
        """Learn what an event teaches; events come in the order of the log, and may come again."""
        with self._lock:
            if event.id <= self.last or event.kind not in _TEACHING:
                return
            self.last = event.id
            if undone_in([event]):
                self.rebuild()
                return
            try:
                teach(self.learner, self._project.pool, lessons_in(event))
            except Exception:  # the event is safe: the model is behind, and says so
                logging.getLogger("coalface").exception("the model could not learn event %d", event.id)
                self.rebuild()

    def rebuild(self) -> None:
        """Fold the log anew, in the background."""
        with self._lock:
            if self._builder is None:
                self._builder = Thread(target=self._build, name="coalface-rebuild", daemon=True)
                self._builder.start()

    def settle(self) -> None:
        """Wait until the model is what the log says; a ConflictError if it cannot be made so now."""
        with self._changed:
            before = self._failures
            self._changed.notify_all()  # what failed is tried again at once
            while self._builder is not None and self._failures == before:
                self._changed.wait()
            if self._builder is not None:
                raise ConflictError(
                    f"The model still knows answers that were taken back, it could not be made anew ({self.problem}). "
                    "Look into the log of the service; it is tried again."
                )

    def settled(self) -> tuple[CoalClassifier, int]:
        """A copy of the model that is what the log says, and the last event that it knows."""
        with self._changed:
            self.settle()
            twin, last = copy(self.learner), self.last
            state: Any = self.learner.model_.__getstate__()  # copies; whoever learns waits for no more than that
        twin.model_ = object.__new__(OnlineModel)
        twin.model_.__setstate__(state)
        return twin, last

    def close(self) -> None:
        """Make nothing anew any longer."""
        with self._changed:
            self._closed, builder = True, self._builder
            self._changed.notify_all()
        if builder is not None:
            builder.join()

    def _build(self) -> None:
        pause = 1.0
        while not self._closed:
            try:
                if self._built():
                    return
            except Exception as problem:
                logging.getLogger("coalface").exception("the model could not be made anew")
                with self._changed:
                    self.problem = in_one_line(problem) or type(problem).__name__
                    self._failures += 1
                    self._changed.notify_all()
                    if not self._closed:
                        self._changed.wait(pause)
                pause = min(2.0 * pause, _LONGEST_PAUSE)

    def _built(self) -> bool:
        """Whether a new model took the place of the old one; not if more was taken back meanwhile."""
        learner = self._project.new_learner()
        with self._log.database.one_moment():
            last = self._fold(learner, 0)
        with self._changed, self._log.database.one_moment():  # what comes now waits, and is then behind ``last``
            if self._stale(last):
                return False
            self.last = self._fold(learner, last)
            self.learner, self._builder, self.problem = learner, None, None
            self._changed.notify_all()
            return True

    def _newest(self) -> tuple[CoalClassifier, int]:
        """The newest snapshot that still holds, and what came after it."""
        for event in reversed(list(self._log.read(kinds=[SNAPSHOT]))):
            last, name = int(event.body["event"]), event.body.get("file")
            if name is None or self._stale(last):
                continue
            learner = self._loaded(self._project.folder / Path(name).name)
            if learner is not None:
                self.kept = (last, learner.examples_queried_)
                return learner, self._fold(learner, last)
        learner = self._project.new_learner()
        return learner, self._fold(learner, 0)

    def _loaded(self, path: Path) -> CoalClassifier | None:
        """The learner of a snapshot, if it is there and has learned as the project says now."""
        try:
            learner = CoalClassifier.load(path)
        except FileNotFoundError:
            return None
        except (CoalfaceError, OSError) as problem:
            warnings.warn(f"{path} is left aside, the log has it all: {problem}", stacklevel=2)
            return None
        fresh = self._project.new_learner()
        then, now = learner.plain_params(), fresh.plain_params()
        if any(then[name] != now[name] for name in _LEARNING):
            return None
        learner.set_params(**fresh.get_params(deep=False))
        return learner

    def _stale(self, last: int) -> bool:
        """Whether something that a fold up to this event has learned was taken back later."""
        return any(closed <= last for closed in undone_in(self._log.read(last, kinds=[UNDONE])))

    def _fold(self, learner: CoalClassifier, last: int) -> int:
        """Teach all that the log has behind an event; the last event."""
        undone = undone_in(self._log.read(kinds=[UNDONE]))
        seen = [last]

        def lessons() -> Iterator[Lesson]:
            for event in self._log.read(last, kinds=_TEACHING):
                seen[0] = event.id
                if event.id not in undone:
                    yield from lessons_in(event)

        teach(learner, self._project.pool, lessons())
        return seen[0]
