"""The model of a project: a fold over its log that follows new events and is rebuilt after an undo.

Snapshots of it in files save the replay of the whole log when a project is opened. The log records each file and the
last event that its model knows; other files are ignored. The newest two are kept.
"""

import logging
import secrets
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from itertools import groupby
from pathlib import Path
from threading import Condition, Lock, RLock, Thread
from typing import Any

import numpy as np

from coalface.data import check_rows
from coalface.desk.log.events import (
    LABELS,
    SNAPSHOT,
    TEACHING,
    WITHDRAWING,
    Decided,
    change_in,
    rounds_in,
    undone_in,
    withdrawn_by,
)
from coalface.desk.log.store import QuestionRow
from coalface.desk.project.pool import Pool
from coalface.desk.project.project import Project
from coalface.errors import CoalfaceError, ConflictError, FileFormatError, UnknownLabelError, in_one_line
from coalface.kernels import EXAMPLES_QUERIED
from coalface.learner import CoalClassifier, change_labels, flat, learned_with, plain_params, replay_rounds
from coalface.rounds import Event, EventLog, Round

_BATCH = 512  # rounds learned at a time
_FIRST_BATCH, _LARGEST_BATCH = 16, 512  # examples scanned at a time
_LONGEST_PAUSE = 60.0  # seconds between two attempts to rebuild
_EVERY = 500  # examples asked about between two snapshots
_KEPT = 2


def teach(learner: CoalClassifier, pool: Pool, decided: Sequence[Decided]) -> None:
    """Let the learner learn rounds, in order."""
    for start in range(0, len(decided), _BATCH):
        batch = decided[start : start + _BATCH]
        for _, alike in groupby(batch, lambda pair: pair[1].late):  # late ones are learned in calls of their own
            pairs = list(alike)
            places = np.array([example for example, _ in pairs], np.int64)
            try:
                replay_rounds(learner, [one for _, one in pairs], check_rows(pool.rows(places)))
            except UnknownLabelError as problem:
                raise FileFormatError(
                    f"The log has a label that the project lacks ({problem}). Add the label."
                ) from None


def scan(
    learner: CoalClassifier, pool: Pool, start: int, wanted: int, most: int, price: Sequence[float] | None = None
) -> Iterator[list[Decided]]:
    """Examples with their rounds in the order of the pool, in batches, from a place on.

    It ends after ``wanted`` examples with questions, or after ``most`` examples. Each example is decided at the round
    that its place gives, so its random draws do not depend on what was learned before. ``price`` is that of a question
    about each label.
    """
    size, stop = _FIRST_BATCH, min(start + most, len(pool))
    while wanted > 0 and start < stop:
        places = np.asarray(pool.order[start : min(start + size, stop)], np.int64)
        queries = learner.ask(pool.rows(places), first_round=start + 1, asking_price=price)
        asked = np.flatnonzero(queries.mask.any(axis=1))
        n = int(asked[wanted - 1]) + 1 if len(asked) >= wanted else len(places)  # later ones wait for a newer model
        yield [(place, queries.round(i)) for i, place in enumerate(places[:n].tolist())]
        wanted -= len(asked[asked < n])
        start += n
        size = min(2 * size, _LARGEST_BATCH)


def decide_again(learner: CoalClassifier, pool: Pool, row: QuestionRow, price: Sequence[float] | None = None) -> Round:
    """The round of a question that was never displayed, as the model decides it now."""
    return learner.ask(pool.rows(np.array([row.example])), first_round=row.round.number, asking_price=price).round(0)


class LiveModel:
    """The learner that the log describes; ``take_in`` follows the log.

    After an undo, the log is replayed in the background. Until that is done, the old learner stays in use and
    ``rebuilding`` is true. A failure is tried again; ``problem`` then says what went wrong.
    """

    def __init__(self, project: Project, log: EventLog) -> None:
        self._project, self._log = project, log
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._builder: Thread | None = None
        self._failures = 0  # of rebuilding
        self._closed = False
        self.kept = (0, 0)  # the snapshot it began with: its last event, and its number of examples asked about
        self.problem: str | None = None
        with log.database.one_moment():
            project.pool.grown(log)
            self.learner, self.last = self._newest()  # ``last`` is the last event that it has learned

    @property
    def rebuilding(self) -> bool:
        """Whether the model still knows answers that were undone."""
        return self._builder is not None

    def take_in(self, events: Iterable[Event], rounds: Iterable[list[Decided]]) -> None:
        """Learn the rounds that each event teaches, in the order of the log; known events are skipped."""
        for event, decided in zip(events, rounds, strict=True):
            if event.kind in TEACHING:
                self._take_in(event, decided)

    def _take_in(self, event: Event, decided: list[Decided]) -> None:
        with self._lock:
            if event.id <= self.last:
                return
            self.last = event.id
            if event.kind in WITHDRAWING and withdrawn_by(event):
                self.rebuild()
                return
            try:
                if event.kind == LABELS:
                    change_labels(self.learner, change_in(event))
                teach(self.learner, self._project.pool, decided)
            except Exception:  # the event is on disk: the model is stale, and says so
                logging.getLogger("coalface").exception("the model could not learn event %d", event.id)
                self.rebuild()

    def rebuild(self) -> None:
        """Replay the log in the background."""
        with self._lock:
            if self._builder is None:
                self._builder = Thread(target=self._build, name="coalface-rebuild", daemon=True)
                self._builder.start()

    def settle(self) -> None:
        """Wait until the model agrees with the log; a ConflictError if it cannot be rebuilt now."""
        with self._changed:
            before = self._failures
            self._changed.notify_all()  # wakes a builder that pauses after a failure
            while self._builder is not None and self._failures == before:
                self._changed.wait()
            if self._builder is not None:
                raise ConflictError(
                    f"The model still knows answers that were undone and could not be rebuilt ({self.problem}). "
                    "See the log of the service; the service keeps trying."
                )

    def settled(self) -> tuple[CoalClassifier, int]:
        """A copy of the model that agrees with the log, and the last event that it knows."""
        with self._changed:
            self.settle()
            return _copied(self.learner), self.last

    def close(self) -> None:
        """Stop rebuilding."""
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
                logging.getLogger("coalface").exception("the model could not be rebuilt")
                with self._changed:
                    self.problem = in_one_line(problem) or type(problem).__name__
                    self._failures += 1
                    self._changed.notify_all()
                    if not self._closed:
                        self._changed.wait(pause)
                pause = min(2.0 * pause, _LONGEST_PAUSE)

    def _built(self) -> bool:
        """Whether a new model replaced the old one; not if more was undone meanwhile."""
        with self._log.database.one_moment():
            learner, last = self._newest()
        with self._changed, self._log.database.one_moment():  # new events wait for the lock; they come after ``last``
            if self._stale(last):
                return False
            self.last = self._fold(learner, last)
            self.learner, self._builder, self.problem = learner, None, None
            logging.getLogger("coalface").info("the model was rebuilt from the log, up to event %d", self.last)
            self._changed.notify_all()
            return True

    def _newest(self) -> tuple[CoalClassifier, int]:
        """The newest snapshot that is still valid, with the events after it; and the last event."""
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
        """The learner of a snapshot, if the file exists and the project's parameters are still the same."""
        try:
            learner = CoalClassifier.load(path)
        except FileNotFoundError:
            return None
        except (CoalfaceError, OSError) as problem:
            warnings.warn(f"{path} is ignored; the model is rebuilt from the log: {problem}", stacklevel=2)
            return None
        fresh = self._project.new_learner()
        if _replay_parameters(learner) != _replay_parameters(fresh):
            return None
        params = fresh.get_params(deep=False)
        if not np.array_equal(learner.classes_, fresh.classes_):  # labels have changed, and with them their costs
            del params["classes"], params["cost_matrix"]
        learner.set_params(**params)
        return learner

    def _stale(self, last: int) -> bool:
        """Whether something that a model knows up to this event was undone later."""
        return any(closed <= last for closed in undone_in(self._log.read(last, kinds=WITHDRAWING)))

    def trained_without(self, examples: Collection[int]) -> CoalClassifier:
        """A learner that has learned all that the log has, except what it says about these examples."""
        learner = self._project.new_learner()
        with self._log.database.one_moment():
            self._fold(learner, 0, examples)
        return learner

    def _fold(self, learner: CoalClassifier, last: int, without: Collection[int] = ()) -> int:
        """Teach all that the log has after an event, ``without`` some examples; the last event."""
        undone, waiting = undone_in(self._log.read(kinds=WITHDRAWING)), list[Decided]()
        for event in self._log.read(last, kinds=TEACHING):
            last = event.id
            if event.kind == LABELS or len(waiting) >= _BATCH:
                teach(learner, self._project.pool, waiting)
                waiting = []
            if event.kind == LABELS:
                change_labels(learner, change_in(event))
            elif event.id not in undone:
                found = rounds_in(event)
                waiting += [pair for pair in found if pair[0] not in without] if without else found
        teach(learner, self._project.pool, waiting)
        return last


def _copied(learner: CoalClassifier) -> CoalClassifier:
    """A copy that later learning does not change."""
    twin = copy(learner)
    twin.model_ = copy(learner.model_)  # copies the arrays
    return twin


def _replay_parameters(learner: CoalClassifier) -> dict[str, Any]:
    """The parameters that affect replay, by path; those of the rule decide which answers imply others."""
    params = {**plain_params(learner), **flat(learner.get_params(deep=False))}
    paths = {*learned_with(learner), "rule.variant", "rule.in_turn", "rule.slack", "random_state"}
    return {path: params[path] for path in paths}


class Snapshots:
    """The snapshots of a model; ``record`` writes the event of a snapshot."""

    def __init__(self, folder: Path, model: LiveModel, record: Callable[[dict[str, Any]], None]) -> None:
        self._folder, self._model, self._record = folder, model, record
        self._last, self._examples = model.kept
        self._writing = Lock()
        self._writer: Thread | None = None

    def consider(self) -> None:
        """Start one in the background if enough was learned since the last."""
        examples = int(self._model.learner.model_.state.counters[EXAMPLES_QUERIED])  # read often
        if examples - self._examples >= _EVERY and (self._writer is None or not self._writer.is_alive()):
            self._examples = examples
            self._writer = Thread(target=self._write_quietly, name="coalface-snapshot", daemon=True)
            self._writer.start()

    def write(self) -> Path | None:
        """Write one now; None if nothing was learned since the last."""
        with self._writing:
            learner, last = self._model.settled()
            if last == self._last:
                return None
            path = self._folder / f"snapshot-{last}-{secrets.token_hex(4)}.coalface"
            path.touch(mode=0o600)  # the file that replaces it keeps these permissions: it was learned from answers
            learner.save(path)
            self._record({"event": last, "round": learner.round_, "file": path.name})
            self._last = last
            logging.getLogger("coalface").info("wrote %s", path)
            self._remove_older(path)
            return path

    def close(self) -> None:
        """Finish the snapshot in progress and write a last one."""
        if self._writer is not None:
            self._writer.join()
        self._write_quietly()

    def _write_quietly(self) -> None:
        """A snapshot only saves time: without one, the model is rebuilt from the log."""
        try:
            self.write()
        except Exception:
            logging.getLogger("coalface").warning("no snapshot was written", exc_info=True)

    def _remove_older(self, newest: Path) -> None:
        def number(path: Path) -> int:
            digits = path.stem.split("-")[1]
            return int(digits) if digits.isdigit() else 0

        files = sorted(self._folder.glob("snapshot-*.coalface"), key=lambda path: (path == newest, number(path)))
        for path in files[:-_KEPT]:
            path.unlink(missing_ok=True)
