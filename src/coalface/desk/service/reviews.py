"""What reviewers see: examples by label, annotator, disagreement, flag or text, the history of one, and surprises.

A surprise is a likely wrong answer. The examples with known costs are split at random into ``FOLDS`` parts. For each
part a model is trained on all others, and its predictions are compared with the costs given. A difference counts in
units of the usual one of its label, so that labels whose costs are hard to predict do not fill the list.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostScale
from coalface.desk.log.events import (
    ANSWERED,
    CLOSED,
    FLAGGED,
    RESOLVED,
    SETTLED,
    SKIPPED,
    UNDONE,
    is_replaced,
    rounds_in,
)
from coalface.desk.project.project import Project
from coalface.desk.service.agreements import Agreements
from coalface.desk.service.messages import Time
from coalface.desk.service.overview import predictions
from coalface.desk.service.project_state import ProjectState
from coalface.errors import InputError
from coalface.learner import CoalClassifier, possible_savings
from coalface.rounds import Costs, Event, Round

ONLY = ("disagreement", "flag", "corrected", "gold")
ORDERS = ("pool", "uncertain", "disagreement")
_UNFINISHED = ("undecided", "open")  # the states that "unfinished" stands for
STATES = ("undecided", "open", "unfinished", "closed", "passed", "retired")
_HISTORY = {ANSWERED, UNDONE, SETTLED, FLAGGED, RESOLVED, SKIPPED}  # what people did
_SHORT = 200  # characters of a text in a list
_MOST = 200  # surprises kept
_BLOCK = 2000  # examples whose uncertainty is computed at a time
FOLDS = 5
_FEWEST = 20  # examples with known costs, below which a model says too little
_SPLIT = 0x5B17  # of random numbers: which part an example is in
Trained = Callable[[Collection[int]], CoalClassifier]


@dataclass(frozen=True)
class Wanted:
    """Which examples a reviewer wants to see, and in which order; empty fields do not restrict.

    ``label`` is the one of the least known cost. ``only`` is one of ``ONLY``: where annotators disagree and no reviewer
    has decided, with an open flag, corrected or imported, or gold.
    """

    text: str = ""
    label: str = ""
    annotator: str = ""
    state: str = ""
    only: str = ""
    order: str = "pool"

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        for name, known in (("state", STATES), ("only", ONLY), ("order", ORDERS)):
            value = getattr(self, name)
            if value and value not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r:.40}. Choose one of these.")


@dataclass(frozen=True)
class Listed:
    """An example in a list.

    ``label`` is the one of the least known cost; ``disagreement`` says how far the answers of annotators lie apart,
    from 0 to 1.
    """

    id: str
    turn: int
    state: str
    text: str
    label: str | None
    annotators: list[str]
    disagreement: float
    flags: int
    corrected: bool
    gold: bool


@dataclass(frozen=True)
class Happening:
    """One thing that happened to an example, as a reviewer reads it."""

    id: int
    at: Time
    kind: str
    who: str | None
    costs: dict[str, float | None] = field(default_factory=dict)
    note: str = ""
    stands: bool = False  # an answer that was not undone and not replaced, or a correction that was not replaced
    replaced: bool = False  # an answer whose costs a correction has changed
    seconds: float | None = None


@dataclass(frozen=True)
class Reviewed:
    """All about one example: its content, what is known, what the model says now, and what happened."""

    example: Listed
    content: dict[str, Any]
    costs: dict[str, float | None]  # those that count
    predicted: dict[str, Any]
    history: list[Happening]


@dataclass(frozen=True)
class Surprise:
    """A cost that the model, trained without it, did not expect; ``surprise`` 1 is a usual difference."""

    example_id: str
    label: str
    cost: float
    predicted: float
    who: str | None
    surprise: float


class Reviews:
    """Looks examples up; nothing here changes anything."""

    def __init__(self, state: ProjectState) -> None:
        self._state = state
        self._surprises: tuple[int, list[Surprise]] = (-1, [])
        self._searching = Lock()

    def agreements(self, metric: str = "interval") -> Agreements:
        """How far annotators agree, corrected for chance, by label and by annotator."""
        with self._state.lock:
            project = self._state.project
            return Agreements.of(self._state.counters, project.offered, project.cost_bounds, metric)

    def surprises(self, limit: int = 50) -> list[Surprise]:
        """The answers that the model, trained without them, finds most surprising; the log is replayed five times.

        They are computed again when the model has learned more, by one caller at a time.
        """
        state = self._state
        with self._searching:
            last = state.model.last
            if self._surprises[0] != last:
                self._surprises = last, _surprises(state.project, self._known(), state.model.trained_without, _MOST)
            return self._surprises[1][:limit]

    def _known(self) -> list[tuple[int, Round]]:
        """The rounds that the model has learned, with costs, by example."""
        closed = self._state.counters.closed
        with self._state.lock:
            standing = {*closed.values()}
        found = []
        for event in self._state.log.read(kinds=[CLOSED, SETTLED]):
            if event.id in standing:
                found += rounds_in(self._state.labels.as_now(event))
        return [(example, one) for example, one in found if any(cost is not None for cost in one.costs.values())]

    def listed(self, wanted: Wanted, start: int = 0, limit: int = 50) -> tuple[list[Listed], int]:
        """Examples from a place in the list on, and how many there are in all."""
        places = self._found(wanted)
        return self._lines(places[start : start + limit]), len(places)

    def disagreements(self) -> dict[int, float]:
        """How far annotators lie apart, by example, where no reviewer has decided; the widest first."""
        counters, bounds = self._state.counters, self._state.project.cost_bounds
        found: dict[int, float] = {}
        for (example, _), costs in counters.shared_costs().items():
            if example not in counters.settled and example not in counters.retired:
                found[example] = max(found.get(example, 0.0), _spread(costs.values(), bounds))
        apart = [(example, width) for example, width in found.items() if width > 0.0]
        return dict(sorted(apart, key=lambda pair: (-pair[1], pair[0])))

    def about(self, example_id: str) -> Reviewed:
        """All about one example."""
        state, place = self._state, self._state.project.pool.place(example_id)
        events = state.log.about(place)
        closed = state.counters.closed.get(place)
        standing = next((event for event in events if event.id == closed), None)
        known = {} if standing is None else dict(rounds_in(standing)[0][1].costs)
        return Reviewed(
            example=self._lines([place])[0],
            content=state.project.pool.content(place),
            costs=known,
            predicted=predictions(state.project, state.model.learner, [{"id": example_id}])[0],
            history=_history(events, standing, known),
        )

    # -- inside ----------------------------------------------------------------------------------

    def _found(self, wanted: Wanted) -> list[int]:
        places: Iterable[int] = self._candidates(wanted)
        if wanted.label:
            answers = self._state.counters.review.answers
            places = [place for place in places if answers.get(place) == wanted.label]
        if wanted.text.strip():
            places = self._with_text(places, wanted.text.strip())
        if wanted.state:
            listed = list(places)
            states = self._state.pool_states(listed)
            fitting = _UNFINISHED if wanted.state == "unfinished" else (wanted.state,)
            places = [place for place in listed if states[place] in fitting]
        return self._ordered(list(places), wanted.order)

    def _candidates(self, wanted: Wanted) -> list[int]:
        counters, kept = self._state.counters, list[set[int]]()
        if wanted.only:
            kept.append(self._only(wanted.only))
        if wanted.annotator:
            given = counters.costs_given().items()
            kept.append({example for (example, _), costs in given if wanted.annotator in costs})
        order: list[int] = np.asarray(self._state.project.pool.order).tolist()
        if not kept:
            return order
        both = set.intersection(*kept)
        return [place for place in order if place in both] if len(both) > 1 else list(both)

    def _only(self, only: str) -> set[int]:
        counters = self._state.counters
        if only == "disagreement":
            return set(self.disagreements())
        if only == "flag":
            return {flag.example or 0 for flag in counters.remarks.flags.values()}
        return set(counters.review.gold if only == "gold" else counters.settled)

    def _with_text(self, places: Iterable[int], text: str) -> list[int]:
        """Those whose id, text or cells have this text, in any case."""
        sought, pool = json.dumps(text, ensure_ascii=False)[1:-1].casefold(), self._state.project.pool
        return [place for place in places if sought in pool.text(place).decode("utf-8", "replace").casefold()]

    def _ordered(self, places: list[int], order: str) -> list[int]:
        if order == "disagreement":
            apart = self.disagreements()
            return sorted(places, key=lambda place: -apart.get(place, 0.0))
        if order != "uncertain" or not places:
            return places
        learner, pool = self._state.model.learner, self._state.project.pool
        blocks = [np.array(places[start : start + _BLOCK], np.int64) for start in range(0, len(places), _BLOCK)]
        scores = np.concatenate([possible_savings(learner, pool.rows(block)) for block in blocks])
        return [places[i] for i in np.argsort(-scores, kind="stable").tolist()]

    def _lines(self, places: list[int]) -> list[Listed]:
        state, pool, counters = self._state, self._state.project.pool, self._state.counters
        states, flags = state.pool_states(places), [flag.example for flag in counters.remarks.flags.values()]
        lines = []
        for place in places:
            given = counters.costs_about(place, state.project.labels)
            width = max((_spread(costs.values(), state.project.cost_bounds) for costs in given.values()), default=0.0)
            lines.append(
                Listed(
                    id=pool.example_id(place),
                    turn=pool.turn(place),
                    state=states[place],
                    text=_short_text(pool.content(place)),
                    label=counters.review.answers.get(place),
                    annotators=sorted({who for costs in given.values() for who in costs}),
                    disagreement=width,
                    flags=flags.count(place),
                    corrected=place in counters.settled,
                    gold=place in counters.review.gold,
                )
            )
        return lines


def _history(events: list[Event], standing: Event | None, known: Costs) -> list[Happening]:
    """What people did, the oldest first; ``standing`` is the event that the ``known`` costs come from."""
    undone = {event.body["answer"] for event in events if event.kind == UNDONE}
    replaced = {event.id for event in events if event.kind == ANSWERED and is_replaced(event, standing, known)} - undone
    closed = -1 if standing is None else standing.id
    return [
        Happening(
            id=event.id,
            at=event.at,
            kind=event.kind,
            who=event.who,
            costs=dict(event.body.get("costs") or {}) if event.kind in (ANSWERED, SETTLED) else {},
            note=str(event.body.get("note") or event.body.get("reason") or ""),
            stands=event.id not in undone | replaced
            if event.kind == ANSWERED
            else closed in (event.id, event.body.get("confirms")),
            replaced=event.id in replaced,
            seconds=event.seconds,
        )
        for event in events
        if event.kind in _HISTORY
    ]


def _spread(costs: Iterable[float], bounds: tuple[float, float]) -> float:
    """How far costs lie apart, as a share of the scale."""
    given = list(costs)
    return (max(given) - min(given)) / (bounds[1] - bounds[0]) if given else 0.0


def _short_text(content: Mapping[str, Any]) -> str:
    """The beginning of a text; of a table, its cells; of an image, nothing."""
    text = str(content.get("text") or content.get("html") or "")
    text = text or ", ".join(f"{name} {value}" for name, value in content.get("cells", {}).items())
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHORT else f"{plain[: _SHORT - 1]}\N{HORIZONTAL ELLIPSIS}"


def _surprises(
    project: Project, known: Sequence[tuple[int, Round]], trained_without: Trained, limit: int = 50
) -> list[Surprise]:
    """The most surprising costs among the known ones, at most one per example; none if few are known."""
    if len(known) < _FEWEST:
        return []
    part = np.random.default_rng([project.seed, _SPLIT]).permutation(len(known)) % FOLDS
    predicted = np.full((len(known), len(project.labels)), np.nan)
    places = np.array([example for example, _ in known], np.int64)
    for fold in range(FOLDS):
        inside = np.flatnonzero(part == fold)
        learner = trained_without(frozenset(places[inside].tolist()))
        predicted[inside] = _predicted(project, learner, places[inside])
    return _ranked(project, known, predicted)[:limit]


def _predicted(project: Project, learner: CoalClassifier, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """The predicted costs in the order of the project's labels."""
    costs = CostScale.of(project.cost_bounds).within(learner.predict_cost(project.pool.rows(places)))
    column = {label: k for k, label in enumerate(learner.classes_.tolist())}
    found: NDArray[np.float64] = costs[:, [column[label] for label in project.labels]]
    return found


def _ranked(project: Project, known: Sequence[tuple[int, Round]], predicted: NDArray[np.float64]) -> list[Surprise]:
    given = np.full(predicted.shape, np.nan)
    for row, (_, one) in enumerate(known):
        for label, cost in one.costs.items():
            given[row, project.labels.index(label)] = np.nan if cost is None else cost
    apart = np.abs(given - predicted)
    usual = np.sqrt(np.nanmean(np.where(np.isnan(apart), np.nan, apart**2), axis=0, where=~np.isnan(apart)))
    span = project.cost_bounds[1] - project.cost_bounds[0]
    scores = np.nan_to_num(apart / np.maximum(usual, 0.01 * span), nan=-1.0)
    best = scores.argmax(axis=1)
    order = np.argsort(-scores[np.arange(len(known)), best], kind="stable")
    return [
        Surprise(
            example_id=project.pool.example_id(known[row][0]),
            label=project.labels[best[row]],
            cost=float(given[row, best[row]]),
            predicted=float(predicted[row, best[row]]),
            who=known[row][1].by.get(project.labels[best[row]]),
            surprise=float(scores[row, best[row]]),
        )
        for row in order.tolist()
        if scores[row, best[row]] > 0.0
    ]
