"""``RoutingDesk``: routes requests, takes outcomes back, and learns them; a journal is the truth.

A decision or an outcome is on disk before it is acknowledged. Opening the desk replays the journal on the trained
router, so a killed process loses nothing, and the same journal gives the same router.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from coalface.data import TEXT, Encoder, is_number
from coalface.errors import ConflictError, InputError, UnknownIdError, UnknownLabelError, counted, shortened
from coalface.files import Journal
from coalface.routing.router import Router

KIND, VERSION = "routing", 1
_MOST_DECISIONS = 200_000  # kept in memory, so that their outcomes can be learned


@dataclass(frozen=True)
class ModelOutcome:
    """The outcome of one model on one request: its loss, None for "can't tell", and what it cost, if known."""

    model: str
    loss: float | None
    price: float | None = None


@dataclass(frozen=True)
class Decision:
    """A routed request; ``ask`` are the models whose outcomes the router would like to know."""

    id: str
    number: int
    model: str
    quality_weight: float
    predicted_loss: Mapping[str, float]
    lowest: Mapping[str, float]
    highest: Mapping[str, float]
    price: Mapping[str, float]
    ask: tuple[str, ...]
    example: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The decision as a line of the journal."""
        infinite = self.quality_weight == np.inf
        return {**vars(self), "ask": list(self.ask), "quality_weight": None if infinite else self.quality_weight}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> "Decision":
        """The decision of a line of the journal."""
        weight = np.inf if line["quality_weight"] is None else float(line["quality_weight"])
        return cls(**{**line, "ask": tuple(line["ask"]), "quality_weight": weight})


@dataclass
class _RouteLog:
    """Decisions by id, and their outcomes by model; the oldest are forgotten once their sums are kept."""

    value_of_quality: float
    decisions: dict[str, Decision] = field(default_factory=dict)
    outcomes: dict[str, dict[str, ModelOutcome]] = field(default_factory=dict)
    forgotten: int = 0  # decisions
    sums: dict[str, float] = field(default_factory=dict)  # of the forgotten ones

    def forget_oldest(self) -> None:
        """Drop the oldest decision, and keep its numbers."""
        key = next(iter(self.decisions))
        for name, number in _numbers_of(self, self.decisions.pop(key)).items():
            self.sums[name] = self.sums.get(name, 0.0) + number
        self.outcomes.pop(key, None)
        self.forgotten += 1


@dataclass(frozen=True)
class RoutingReport:
    """Counts, spend and regret; money is in the unit of the prices.

    ``spend_on_routes`` counts the chosen model of every decision, at its paid price if it was reported, else at its
    known price. ``spend_on_questions`` counts the outcomes of other models. ``outcomes`` have a known loss;
    ``outcomes_without_loss`` have "can't tell" in its place. ``mean_loss`` is the mean reported loss of chosen models,
    None before the first. ``estimated_regret`` is the mean extra cost, in money, of a chosen model over the best model
    of its request, where the outcome of the chosen model is known; other models count with their known or, failing
    that, their predicted loss.
    """

    decisions: int
    outcomes: int
    outcomes_without_loss: int
    requests_with_outcomes: int
    spend_on_routes: float
    spend_on_questions: float
    mean_loss: float | None
    estimated_regret: float | None
    chosen: Mapping[str, int]

    @classmethod
    def of(cls, log: _RouteLog) -> "RoutingReport":
        """The report of a log."""
        sums = dict(log.sums)
        for decision in log.decisions.values():
            for name, number in _numbers_of(log, decision).items():
                sums[name] = sums.get(name, 0.0) + number
        judged = sums.get("judged", 0.0)
        prefix = "chosen "
        chosen = {name.removeprefix(prefix): int(n) for name, n in sums.items() if name.startswith(prefix)}
        return cls(
            len(log.decisions) + log.forgotten,
            int(sums.get("outcomes", 0)),
            int(sums.get("without loss", 0)),
            int(sums.get("answered", 0)),
            sums.get("on routes", 0.0),
            sums.get("on questions", 0.0),
            sums["loss"] / judged if judged else None,
            sums["regret"] / judged if judged else None,
            dict(sorted(chosen.items())),
        )

    @property
    def spend(self) -> float:
        """All money spent."""
        return self.spend_on_routes + self.spend_on_questions

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {**asdict(self), "spend": self.spend}

    def rows(self) -> list[list[str]]:
        """The report as rows of a table."""
        unknown = "not known yet"
        return [
            ["decisions", f"{self.decisions:,}"],
            ["known losses", f"{self.outcomes:,} on {counted(self.requests_with_outcomes, 'request')}"],
            ["losses not known", f"{self.outcomes_without_loss:,}"],
            ["spend", f"{self.spend:.6g}"],
            ["  on routes", f"{self.spend_on_routes:.6g}"],
            ["  on further outcomes", f"{self.spend_on_questions:.6g}"],
            ["mean loss of routes", unknown if self.mean_loss is None else f"{self.mean_loss:.4f}"],
            ["estimated regret", unknown if self.estimated_regret is None else f"{self.estimated_regret:.6g}"],
            *([f"chosen: {model}", f"{count:,}"] for model, count in self.chosen.items()),
        ]


class RoutingDesk:
    """Routes requests with a router, and learns the outcomes that come back.

    >>> from tempfile import TemporaryDirectory
    >>> router = Router(["small", "large"], price=[0.1, 1.0], value_of_quality=5.0)
    >>> with TemporaryDirectory() as folder:
    ...     desk = RoutingDesk(router, Path(folder, "routes.jsonl"))
    ...     decision = desk.route({"text": "What is 2 + 2?"})
    ...     learned = desk.take(decision.id, [ModelOutcome("small", 0.0)])
    ...     again = desk.take(decision.id, [ModelOutcome("small", 0.0)])
    >>> decision.ask, learned, again
    (('small', 'large'), 1, 0)
    """

    def __init__(self, router: Router, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.router, self._clock, self._lock = router, clock, threading.RLock()
        self._journal = Journal(path, KIND, VERSION)
        self.log = _RouteLog(value_of_quality=router.value_of_quality)
        self._column = {str(model): k for k, model in enumerate(router.models.tolist())}
        if self._journal.header is None:
            self._journal.begin({"models": list(self._column), "value_of_quality": router.value_of_quality})
        elif self._journal.header.get("models") != list(self._column):
            raise InputError(
                f"{path} has the decisions of {shortened(self._journal.header.get('models'))}, but the router chooses "
                f"between {shortened(list(self._column))}. Pass another ledger."
            )
        for number, line in self._journal:
            try:
                self._replay(line)
            except (KeyError, TypeError, ValueError) as problem:
                raise self._journal.damaged(number, problem) from None

    def route(
        self, example: Any, *, quality_weight: float | None = None, models: Sequence[str] | None = None
    ) -> Decision:
        """Choose a model for a request, given as its text or as a record of features."""
        X, record = self._as_examples(example)
        with self._lock:
            number = len(self.log.decisions) + self.log.forgotten + 1
            mask = self._mask(models)
            routes = self.router.route(X, quality_weight=quality_weight, candidates=mask)
            first = max(number, self.router.learner.round_)  # a round of its own, so that audits differ
            queries = self.router.ask(X, candidates=mask, first_round=first)
            parts = (routes.predicted_loss, routes.ranges.lowest, routes.ranges.highest, routes.price)
            loss, lowest, highest, price = [dict(zip(self._column, part[0].tolist(), strict=True)) for part in parts]
            decision = Decision(
                f"{number}-{token_hex(8)}",
                number,
                str(routes.model[0]),
                routes.quality_weight,
                loss,
                lowest,
                highest,
                price,
                ask=queries.round(0).ask,
                example=record,
            )
            self._journal.append([{"decision": decision.to_json(), "at": self._clock()}])
            self._keep(decision)
            return decision

    def take(self, decision_id: str, outcomes: Sequence[ModelOutcome]) -> int:
        """Learn the outcomes of a request; returns how many are new. The same outcome twice counts once."""
        with self._lock:
            decision = self.log.decisions.get(decision_id)
            if decision is None:
                raise UnknownIdError(f"There is no decision {decision_id!r}. Send the id that the route returned.")
            fresh = self._fresh(decision, outcomes)
            if fresh:
                lines = [{"model": one.model, "loss": one.loss, "price": one.price} for one in fresh]
                self._journal.append([{"outcomes": lines, "of": decision.id, "at": self._clock()}])
                self._learn(decision, fresh)
            return len(fresh)

    def report(self) -> RoutingReport:
        """Spend, regret and counts so far."""
        with self._lock:
            return RoutingReport.of(self.log)

    # -- internals --------------------------------------------------------------------------------

    def _fresh(self, decision: Decision, outcomes: Sequence[ModelOutcome]) -> list[ModelOutcome]:
        """The outcomes that are not known yet; a ConflictError if one says something else than what is known."""
        known = dict(self.log.outcomes.get(decision.id, {}))
        fresh = []
        for one in outcomes:
            if one.model not in self._column:
                raise UnknownLabelError(one.model, self._column)
            _check_outcome(one)
            earlier = known.setdefault(one.model, one)
            if earlier is one:
                fresh.append(one)
            elif one.loss != earlier.loss or one.price not in (None, earlier.price):
                raise ConflictError(
                    f"Decision {decision.id} has another outcome of {one.model!r}: {_in_words(earlier)}. "
                    "An outcome cannot be changed."
                )
        return fresh

    def _learn(self, decision: Decision, outcomes: Sequence[ModelOutcome]) -> None:
        loss = np.full((1, len(self._column)), np.nan)
        asked = np.zeros(loss.shape, np.bool_)
        for one in outcomes:
            column = self._column[one.model]
            loss[0, column], asked[0, column] = np.nan if one.loss is None else one.loss, True
        late = decision.id in self.log.outcomes
        X, _ = self._as_examples(decision.example)
        self.router.tell(X, loss, asked, late)
        self.log.outcomes.setdefault(decision.id, {}).update({one.model: one for one in outcomes})

    def _replay(self, line: Mapping[str, Any]) -> None:
        if "decision" in line:
            decision = Decision.from_json(line["decision"])
            if not hasattr(self.router.learner, "encoder_"):
                self.router.ask(self._as_examples(decision.example)[0])  # the first request says how examples are read
            self._keep(decision)
            return
        decision = self.log.decisions[line["of"]]
        self._learn(decision, [ModelOutcome(**one) for one in line["outcomes"]])

    def _keep(self, decision: Decision) -> None:
        self.log.decisions[decision.id] = decision
        if len(self.log.decisions) > _MOST_DECISIONS:
            self.log.forget_oldest()

    def _as_examples(self, example: Any) -> tuple[Any, dict[str, Any]]:
        """A request as the learner takes it, and as the journal keeps it."""
        if isinstance(example, str):
            encoder: Encoder | None = getattr(self.router.learner, "encoder_", None)
            example = {TEXT if encoder is None else encoder.text_column: example}
        if not isinstance(example, Mapping) or not example:
            raise InputError(f"example must be a text or an object of features, got {shortened(example)}.")
        return [dict(example)], dict(example)

    def _mask(self, models: Sequence[str] | None) -> Any:
        if models is None:
            return None
        unknown = [name for name in models if name not in self._column]
        if unknown or not models:
            raise UnknownLabelError(unknown[0] if unknown else "", self._column)
        return np.array([[name in models for name in self._column]])


def _in_words(one: ModelOutcome) -> str:
    """What is known of an outcome.

    >>> _in_words(ModelOutcome("small", 0.25)), _in_words(ModelOutcome("small", None, 0.5))
    ('loss 0.25', 'loss not known, price 0.5')
    """
    loss = "loss not known" if one.loss is None else f"loss {one.loss:g}"
    return loss if one.price is None else f"{loss}, price {one.price:g}"


def _check_outcome(one: ModelOutcome) -> None:
    if one.loss is not None and not (is_number(one.loss) and 0.0 <= one.loss <= 1.0):
        raise InputError(f"loss must lie between 0 and 1, or be null, got {shortened(one.loss)} for {one.model!r}.")
    if one.price is not None and not (is_number(one.price) and one.price >= 0.0):
        raise InputError(f"price must be at least 0, or be null, got {shortened(one.price)} for {one.model!r}.")


def _numbers_of(log: _RouteLog, decision: Decision) -> dict[str, float]:
    """What one decision adds to the sums of a report."""
    outcomes = log.outcomes.get(decision.id, {})
    n_known = sum(one.loss is not None for one in outcomes.values())
    found = {f"chosen {decision.model}": 1.0, "outcomes": float(n_known), "answered": float(n_known > 0)}
    found["without loss"] = float(len(outcomes) - n_known)

    def paid(model: str) -> float:
        price = outcomes[model].price if model in outcomes else None
        return decision.price[model] if price is None else price

    def lost(model: str) -> float:
        loss = outcomes[model].loss if model in outcomes else None
        return float(np.clip(decision.predicted_loss[model], 0.0, 1.0)) if loss is None else loss

    found["on routes"] = paid(decision.model)
    found["on questions"] = sum(paid(model) for model in outcomes if model != decision.model)
    own = outcomes.get(decision.model)
    if own is not None and own.loss is not None:
        value = log.value_of_quality
        total = {model: value * lost(model) + paid(model) for model in decision.price}
        found |= {"judged": 1.0, "loss": own.loss, "regret": total[decision.model] - min(total.values())}
    return found
