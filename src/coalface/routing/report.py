"""What routing has spent and lost so far: the ledger of decisions and outcomes, and a report of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coalface.errors import counted

if TYPE_CHECKING:
    from coalface.routing.desk import Decision, ModelOutcome


@dataclass
class RouteLog:
    """Decisions by id, and their outcomes by model; the oldest are forgotten once their sums are kept."""

    value_of_quality: float
    decisions: "dict[str, Decision]" = field(default_factory=dict)
    outcomes: "dict[str, dict[str, ModelOutcome]]" = field(default_factory=dict)
    forgotten: int = 0  # decisions
    sums: "dict[str, float]" = field(default_factory=dict)  # of the forgotten ones

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
    def of(cls, log: RouteLog) -> "RoutingReport":
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


def _numbers_of(log: RouteLog, decision: "Decision") -> dict[str, float]:
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
