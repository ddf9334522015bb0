"""Rows asked about together, their answers to come later.

Decided one by one on the same model, all of a hundred copies would be asked about. So within a batch a cost that is
asked for on one row is not asked for on another one like it.
"""

from typing import Any

import numpy as np

from coalface.data.rows import Rows
from coalface.kernels.state import ASKED, ASKED_AS_AUDIT, AUDIT, COSTS_QUERIED, NOT_ASKED, PASSIVE, Settings
from coalface.kernels.turns import answer_rows
from coalface.learner import rounds
from coalface.learner.near_duplicates import twins_of
from coalface.learner.rounds import NOTHING_ANSWERED, UNLIMITED, Answered, Candidates, Decisions
from coalface.models.contract import CostRegressors


def ask(
    regressors: CostRegressors,
    settings: Settings,
    rows: Rows,
    candidates: Candidates,
    answered: Answered = NOTHING_ANSWERED,
    first_round: int | None = None,
) -> Decisions:
    """Decide on the rows in their order, with an eye to what is asked about those before; nothing changes."""
    if len(rows) < 2 or settings.rule == PASSIVE or settings.alike > 1.0:
        return rounds.ask(regressors, settings, rows, candidates, answered, first_round=first_round)
    return rounds.ask(regressors, settings, rows, candidates, answered, twins_of(rows, settings.alike), first_round)


class Run(rounds.Run):
    """A simulated run in which ``batch`` rows at a time are asked about, and learned after that."""

    def __init__(self, *args: Any, batch: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.batch = batch

    def play(self, n_rows: int, budget: int = UNLIMITED) -> None:
        """Go on in whole batches for at least ``n_rows`` rows, or until ``budget`` costs have been asked for in all."""
        stop, regressors = min(self.done + n_rows, len(self.order)), self._regressors
        with regressors.lock:
            while self.done < stop and regressors.model.counters[COSTS_QUERIED] < budget and not self.stopped:
                self._play_batch(slice(self.done, min(self.done + self.batch, len(self.order))))

    def _play_batch(self, span: slice) -> None:
        regressors, settings, picked = self._regressors, self._settings, self.order[span]
        rows, candidates = self.rows.take(picked), None if self.candidates is None else self.candidates[picked]
        found = ask(regressors, settings, rows, candidates)
        costs, asked, outlook = self.costs[picked], found.mask.copy(), rounds.outlook(settings, found)
        scratch = regressors.scratch_for(rows.longest)
        answer_rows(regressors.model, settings, scratch, costs, found.reasons, found.lowest, found.predicted, asked)
        answers = np.where(asked, costs, np.float32(np.nan))
        rounds.tell(regressors, settings, rows, candidates, answers, asked, outlook, late=False)
        if len(self.asked):
            how = np.where(found.reasons == AUDIT, ASKED_AS_AUDIT, ASKED)
            self.asked[span], self.propensity[span] = np.where(asked, how, NOT_ASKED), found.propensity
            if outlook is not None:
                self.outlook[span] = outlook
        self.done = span.stop
