"""The model of a project: a fold over its log, kept up with it, rebuilt where an answer was taken back."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from threading import RLock, Thread

from coalface.app.lessons import CLOSED, PASSED, UNDONE, Lesson, lessons_in, teach, undone_in
from coalface.app.project import Project
from coalface.errors import CoalfaceError
from coalface.learner import CoalClassifier
from coalface.ledger.events import Event, EventLog

_TEACHING = (PASSED, CLOSED, UNDONE)
_LEARNING = (*CoalClassifier._learned_with, "in_turn", "rule", "slack", "random_state")  # what a fold hangs on


class LiveModel:
    """The learner as the log has it; ``take_in`` follows the log, ``rebuild`` begins anew in the background."""

    def __init__(self, project: Project, log: EventLog) -> None:
        self._project, self._log = project, log
        self._lock = RLock()
        self._wish = 0  # how often a new fold was wished for
        self._builder: Thread | None = None
        self.learner, self.last = self._newest()

    @property
    def rebuilding(self) -> bool:
        """Whether answers were taken back that the model still knows."""
        return self._builder is not None

    def take_in(self, event: Event) -> None:
        """Learn what an event teaches; events come in the order of the log."""
        with self._lock:
            if event.id > self.last:  # a fold that ended just now may have read it from the log
                teach(self.learner, self._project.pool, lessons_in(event))
                self.last = event.id

    def rebuild(self) -> None:
        """Fold the log anew; until that is done, the old model stays."""
        with self._lock:
            self._wish += 1
            if self._builder is None:
                self._builder = Thread(target=self._build, name="coalface-rebuild", daemon=True)
                self._builder.start()

    def settle(self) -> None:
        """Wait until the model is what the log says."""
        builder = self._builder
        if builder is not None:
            builder.join()

    def save(self, folder: Path) -> Path | None:
        """Write a snapshot that saves the next start some time; None if there is a newer one or nothing to save."""
        self.settle()
        with self._lock:
            path = folder / f"snapshot-{self.last}.coalface"
            if not self.last or path.exists() or self._builder is not None:  # a rebuilding that failed: the log has all
                return None
            self.learner.save(path)
        for old in folder.glob("snapshot-*.coalface"):
            if old != path:
                old.unlink()
        return path

    def _build(self) -> None:
        while True:
            wish = self._wish
            learner = self._project.new_learner()
            last = self._fold(learner, 0)
            with self._lock:
                if wish == self._wish:
                    self.last = self._fold(learner, last)
                    self.learner, self._builder = learner, None
                    return

    def _newest(self) -> tuple[CoalClassifier, int]:
        """The newest snapshot that still holds, and what came after it."""
        undone = list(self._log.read(kinds=[UNDONE]))
        for last, path in sorted(_snapshots(self._project.folder), reverse=True):
            stale = any(event.id > last and closed <= last for event in undone for closed in undone_in([event]))
            learner = None if stale else self._loaded(path)
            if learner is not None:
                return learner, self._fold(learner, last)
        learner = self._project.new_learner()
        return learner, self._fold(learner, 0)

    def _loaded(self, path: Path) -> CoalClassifier | None:
        """The learner of a snapshot, if it has learned as the project says now."""
        try:
            learner = CoalClassifier.load(path)
        except CoalfaceError as problem:
            warnings.warn(f"{path} is left aside, the log has it all: {problem}", stacklevel=2)
            return None
        fresh = self._project.new_learner()
        then, now = learner._plain_params(), fresh._plain_params()
        if any(then[name] != now[name] for name in _LEARNING):
            return None
        learner.set_params(**fresh.get_params(deep=False))
        return learner

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


def _snapshots(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in folder.glob("snapshot-*.coalface"):
        number = path.stem.removeprefix("snapshot-")
        if number.isdigit():
            yield int(number), path
