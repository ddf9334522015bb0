"""Simulated runs: all costs are known, but the learner sees only those that it asks for."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.encoding.encoder import Encoder
from coalface.data.labels import label_texts
from coalface.data.rows import Rows, check_width
from coalface.data.targets import UNKNOWN, Codes
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import N_OUTLOOK, NO_ROUNDS, RoundArrays, Until
from coalface.kernels.stopping import saving_is_below
from coalface.learner.known_parts import KnownParts
from coalface.learner.persistence import PersistentLearner
from coalface.learner.purse import Purse
from coalface.models.values import RunArrays
from coalface.rounds.arrays import rounds_from_arrays
from coalface.rounds.round import Round

UNLIMITED = 2**62
NEVER = float("-inf")  # a saving that never ends a run


@dataclass
class Run:
    """A simulated run and its progress; ``learner.play`` continues it."""

    rows: Rows
    cost: Any  # (n, K) on the user's scale
    names: NDArray[np.object_] | None  # of the features
    truth: Codes | None  # the columns of the true labels, where the learner may ask for them
    arrays: RunArrays
    batch: int
    stop_saving: float
    done: int = 0  # rows of the order played so far
    at_limit: bool = False  # whether a question did not fit the budget, which ends the run

    def __len__(self) -> int:
        return len(self.arrays.order)

    def asked(self, span: slice) -> NDArray[np.bool_]:
        """The mask of questions at these positions, (n, K), if the run records them."""
        return self.arrays.record.mask[span]


class SimulatingLearner(PersistentLearner):
    """A learner that plays simulated runs."""

    def start_run(
        self,
        X: Any,
        rows: Rows,
        labels: NDArray[Any],
        cost: Any,
        given: RoundArrays,
        order: NDArray[np.int64],
        *,
        record: bool = False,
        batch: int = 1,
        stop_saving: float | None = None,
        encoder: Encoder | None = None,
    ) -> Run:
        """Start a run over checked rows; ``given`` has their candidates and their costs, scaled to [0, 1].

        ``encoder`` has made the rows from raw examples. The run records its questions if ``record`` is true or the
        learner has a ledger. It ends early once further questions would save less than ``stop_saving`` per example.
        """
        least = NEVER if stop_saving is None else self._unit_saving("stop_saving", stop_saving)
        check_width(rows, self)
        names = self._names_of(X, encoder)
        if self._recorder is not None:
            self._recorder.check(self._all_params())
        if hasattr(self, "model_"):
            self.settings_for()
            self._refuse_changed()
        model = self.model_ if hasattr(self, "model_") else self._new_model(labels)
        model.check(rows)
        self._begin_with(labels, model)
        truth = self._truths_of(given, labels)
        if (allowed := self._candidates(given.candidates if len(given.candidates) else None, rows)) is not None:
            given = given._replace(candidates=allowed)
        self._keep_encoder(encoder)
        shape = (len(order), len(labels)) if record or self._recorder is not None else (0, 0)
        recorded = NO_ROUNDS._replace(
            mask=np.zeros(shape, np.bool_),
            reasons=np.zeros(shape, np.int8),
            propensity=np.zeros(shape),
            outlook=np.zeros((shape[0], N_OUTLOOK)),
            truth=np.zeros(shape[0], np.bool_),
        )
        return Run(rows, cost, names, truth, RunArrays(order, given, recorded), batch, least)

    def play(self, run: Run, n_rows: int, costs: int = UNLIMITED) -> None:
        """Continue for ``n_rows`` rows, in whole batches, or until the learner has asked for ``costs`` in total.

        With a budget that is not paced, the run ends at the first question that does not fit: ``run.at_limit``.
        """
        until = Until(min(run.done + n_rows, len(run)), costs, run.stop_saving)
        purse = self._purse()
        if purse is None:
            self._play_until(run, until)
        while purse is not None and self._goes_on(run, until, purse):
            fitting = int(min(max(purse.left, 0.0) // max(purse.dearest_example, 1e-300), len(run)))
            if fitting >= run.batch:  # so many rows fit, whatever is asked about them
                position = min(run.done + fitting - fitting % run.batch, until.position)
                self._play_until(run, until._replace(position=position))
            else:
                self._play_within(run, purse)
            purse = self._purse()

    def _goes_on(self, run: Run, until: Until, purse: Purse) -> bool:
        run.at_limit = run.at_limit or purse.empty
        return run.done < until.position and not run.at_limit and not self.model_.reached(self.settings_for(), until)

    def _play_until(self, run: Run, until: Until) -> None:
        start, settings = run.done, self.settings_for()
        recorder = self._recorder
        if recorder is not None:
            recorder.check(self._all_params())
        with self.model_.lock, nullcontext() if recorder is None else interrupts_put_off():
            run.done = self.model_.simulate(run.rows, settings, run.arrays, start, until, run.batch)
            self.n_features_in_ = max(run.rows.width, getattr(self, "n_features_in_", 0))
            if run.names is not None:
                self.feature_names_in_ = run.names
            if recorder is not None and run.done > start:
                played = self._rounds_of_run(run, slice(start, run.done))
                recorder.write(played, self._all_params(), self.plain_budget, learned=True)

    def _play_within(self, run: Run, purse: Purse) -> None:
        """Play one batch question by question, as far as the purse goes."""
        span = slice(run.done, min(run.done + run.batch, len(run)))
        picked, given, record = run.arrays.order[span], run.arrays.given, run.arrays.record
        rows, cost = run.rows.take(picked), CostScale.of(self.cost_bounds).within(np.asarray(run.cost)[picked])
        candidates = given.candidates[picked] if len(given.candidates) else None
        truths = None if run.truth is None else run.truth[picked]
        parts = KnownParts(given.offsets, given.prices).of_rows(picked)
        found = self._converse(
            rows,
            candidates,
            lambda row, k: float(cost[row, k]),
            None if truths is None else lambda row: self.classes_[truths[row]] if truths[row] != UNKNOWN else None,
            purse,
            parts,
        )
        self._tell(
            None,
            rows,
            self.classes_,
            found.cost,
            found.asked,
            candidates,
            truth=found.truth,
            offset=found.offset,
            names=run.names if run.done == 0 else None,  # ledgers need them once
        )
        run.done, run.at_limit = span.stop, not found.complete
        if len(record.mask):
            record.mask[span] = found.asked_costs

    def has_stopped(self, run: Run) -> bool:
        """Whether further questions would save less than the run's ``stop_saving``."""
        return saving_is_below(self.model_.state.saving, run.stop_saving)

    def _rounds_of_run(self, run: Run, span: slice) -> list[Round]:
        picked, given, record = run.arrays.order[span], run.arrays.given, run.arrays.record
        asked = record.mask[span]
        cost = np.where(asked, CostScale.of(self.cost_bounds).within(np.asarray(run.cost)[picked]), np.nan)
        rounds = NO_ROUNDS._replace(
            candidates=given.candidates[picked] if len(given.candidates) else given.candidates,
            offsets=given.offsets[picked] if len(given.offsets) else given.offsets,
            asked=asked,
            reasons=record.reasons[span],
            propensity=record.propensity[span],
            outlook=record.outlook[span],
            truth=record.truth[span],
        )
        names = run.names if span.start == 0 else None
        texts, rows = label_texts(self.classes_), run.rows.take(picked)
        truth = None if run.truth is None else np.where(rounds.truth, run.truth[picked], UNKNOWN)
        encoder = None if self._recorder is None else self._recorder.encoder_of(getattr(self, "encoder_", None))
        first = self.round_ - len(picked)
        width = CostScale.of(self.cost_bounds).span
        return rounds_from_arrays(first, texts, rows, cost, rounds, names, truth=truth, encoder=encoder, span=width)
