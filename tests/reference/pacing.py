"""Budgets once more, on top of the NumPy reference: written from their description, in the order of its sentences."""

from dataclasses import dataclass, replace

import numpy as np

from .online import ReferenceCoal


@dataclass(frozen=True)
class Purse:
    """An amount to be spent over so many rounds, and what an example and a cost take of it."""

    amount: float
    over: int
    per_example: float
    per_cost: float

    def price(self, examples, costs):
        return self.per_example * examples + self.per_cost * costs

    def planned(self, rounds):
        """A fifth at once, the rest evenly."""
        return self.amount * (0.2 + 0.8 * min(rounds / self.over, 1))

    def slack_factor(self, rounds_done, spent, n_labels):
        """The 20th power of what is left over what the plan wants left, which is at most doubled or halved.

        If all that is left can only be spent by asking for everything from now on, that is what is done.
        """
        left, wanted = self.amount - spent, max(self.amount - self.planned(rounds_done), 0.8 * self.amount / self.over)
        if left <= 0:
            return 1.0
        whole_examples = left / self.price(1, n_labels)
        return (
            1e12 if whole_examples >= max(self.over - rounds_done, 1) else float(np.clip(left / wanted, 0.5, 2) ** 20)
        )

    def most_costs(self, round_number, examples, costs, n_labels):
        """How many costs of one more example may be asked for."""
        spent, first_cost = self.price(examples, costs), self.per_example + self.per_cost
        ahead = 0.05 * self.amount
        if self.per_example == 0:
            limit = self.planned(round_number) + max(ahead, first_cost)
        elif spent <= self.planned(round_number) + ahead:
            limit = spent + max(0.2 * self.amount, first_cost)
        else:
            limit = 0
        limit = min(limit, self.amount)
        return max((n for n in range(1, n_labels + 1) if self.price(examples + 1, costs + n) <= limit), default=0)


class PacedCoal(ReferenceCoal):
    """A reference learner with a purse; ``warm_up`` is asked about in full while that takes a fifth at most."""

    def __init__(self, n_labels, n_features, *, purse, warm_up, **params):
        super().__init__(n_labels, n_features, warm_up=0, **params)
        self.purse, self.first_rounds = purse, warm_up
        self.examples = self.costs = 0
        self.factor = 1.0

    def loss_slack(self):
        return super().loss_slack() * self.factor

    def decide(self, row, candidates=None):
        purse, allowed = self.purse, self._candidates(candidates)
        self.factor = purse.slack_factor(self.round_number - 1, purse.price(self.examples, self.costs), self.n_labels)
        decision = super().decide(row, allowed)
        if self._warms_up(allowed):
            decision = replace(decision, mask=allowed)
        elif self.rule != "passive" and decision.mask.any() and purse.per_example > 0:
            decision = self._second_look(row, allowed, decision)
        return replace(decision, mask=self._trimmed(decision))

    def learn(self, row, costs, asked_mask, candidates=None):
        super().learn(row, costs, asked_mask, candidates)
        self.examples += bool(np.any(asked_mask))
        self.costs += int(np.sum(asked_mask))

    def _warms_up(self, allowed):
        after = self.purse.price(self.examples + 1, self.costs + allowed.sum())
        return self.round_number <= self.first_rounds and after <= 0.2 * self.purse.amount

    def _second_look(self, row, allowed, decision):
        if self.purse.per_cost == 0:
            return replace(decision, mask=allowed)
        self.factor *= (self.purse.per_example + self.purse.per_cost) / self.purse.per_cost
        return super().decide(row, allowed)

    def _trimmed(self, decision):
        most = self.purse.most_costs(self.round_number, self.examples, self.costs, self.n_labels)
        asked = np.flatnonzero(decision.mask)
        widest = asked[np.argsort(-decision.width[asked], kind="stable")][:most]
        return np.isin(np.arange(self.n_labels), widest)
