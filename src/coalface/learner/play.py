"""What is played: the row loop of simulated runs and of interviews, which ask one question after another."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost, checked_answer
from coalface.data.labels import label_texts
from coalface.data.numbers import flag
from coalface.data.rows import Rows
from coalface.data.targets import (
    UNKNOWN,
    Codes,
    costs_by_truth,
    labels_of,
    require_target,
    truth_codes,
    truths_of,
    with_costs_of,
)
from coalface.errors import InputError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import N_OUTLOOK, NO_ROUNDS, ROUND, RoundArrays, Settings, Until
from coalface.kernels.stopping import saving_is_below
from coalface.learner.account import RemainingBudget, plain_budget, remaining_budget
from coalface.learner.asking import Given, decide
from coalface.learner.inputs import keep_inputs
from coalface.learner.intake import (
    Examples,
    KnownParts,
    Mask,
    allowed,
    checked_answers,
    examples_to_decide,
    keep_features,
    known_parts,
    read_examples,
    visiting_order,
)
from coalface.learner.monitor import unit_saving, warn_if_collapsed, warn_of_unlearned
from coalface.learner.parameters import rule_of
from coalface.learner.state import LearnerState, begin_with, is_begun, new_model, ready, scale_of, settings_of
from coalface.learner.teaching import Answers, all_params, examples_to_learn, learn, learn_all, truth_costs
from coalface.learner.widening import Told, keep, scale_with, widen
from coalface.models.values import RunArrays
from coalface.rounds.arrays import rounds_from_arrays
from coalface.rounds.queries import Queries
from coalface.rounds.round import Round

CostOf = Callable[[int, Any], float]  # of the example with this number and a label
TruthOf = Callable[[int], Any]
UNLIMITED = 2**62
_NEVER = float("-inf")  # a saving that never ends a run
_PIECE = 4096  # rows that are played between two checks for Ctrl-C

# -- one question after another -------------------------------------------------------------------


@dataclass
class _Conversation:
    """What was asked and answered about some rows; it is ``complete`` unless a question did not fit the budget."""

    cost: NDArray[np.float64]  # (n, K) the answers, NaN elsewhere
    asked: Mask  # (n, K)
    whole: Mask  # (n,) rows whose true label was to be asked for
    remaining: RemainingBudget | None
    truth: Codes | None = None
    complete: bool = True

    @classmethod
    def start(cls, n_rows: int, n_labels: int, remaining: RemainingBudget | None) -> "_Conversation":
        """A conversation in which nothing was asked yet."""
        shape = (n_rows, n_labels)
        return cls(np.full(shape, np.nan), np.zeros(shape, np.bool_), np.zeros(n_rows, np.bool_), remaining)

    def ask_truths(
        self, first: Queries, truth: Callable[[int], Any], labels: NDArray[Any], costs: NDArray[np.float64]
    ) -> None:
        """Ask for the true labels that are wanted, and write down the costs that they give."""
        self.whole = first.truth.copy()
        answers: list[Any] = [None] * len(self.cost)
        for row in np.flatnonzero(first.truth).tolist():
            if not self._buys(partial(RemainingBudget.buys_truth, new_example=True)):
                break
            answers[row] = truth(row)
            self.asked[row] = first.mask[row]
        self.truth = truth_codes(answers, len(answers), labels)
        known = self.truth != UNKNOWN
        self.cost[known] = with_costs_of(self.truth, costs)[known]

    def ask_costs(self, wanted: Mask, answer: Callable[[int, int], float]) -> None:
        """Ask for the wanted costs, (n, K), in order; the first that does not fit the budget is the end."""
        for row, k in np.argwhere(wanted).tolist():
            if not self._buys(partial(RemainingBudget.buys_cost, label=k, new_example=not self.asked[row].any())):
                return
            self.cost[row, k] = answer(row, k)
            self.asked[row, k] = True

    def _buys(self, buy: Callable[[RemainingBudget], bool]) -> bool:
        if self.complete and self.remaining is not None:
            self.complete = buy(self.remaining)
        return self.complete


def _converse(
    learner: LearnerState,
    examples: Examples,
    answer: Callable[[int, int], float],
    truth: Callable[[int], Any] | None,
    remaining: RemainingBudget | None,
    parts: KnownParts,
    scale: CostScale | None = None,
) -> _Conversation:
    """Ask about some rows, one question after another, as far as the budget goes, then learn the answers.

    ``answer(row, k)`` gives a cost, ``truth(row)`` a true label. ``scale`` is that of ``Answers``.
    """
    rows, candidates, labels = examples.rows, examples.candidates, learner.classes_
    queries = first = decide(learner, rows, candidates, parts=parts)
    found = _Conversation.start(len(rows), len(labels), remaining)
    if truth is not None and first.truth.any():
        found.ask_truths(first, truth, labels, truth_costs(learner))
    while (open_ones := queries.next & ~found.whole[:, None]).any() and found.complete:
        found.ask_costs(open_ones, answer)
        known = checked_answers(learner, examples, found.cost, found.asked)
        queries = decide(learner, rows, candidates, *known, parts=parts)
    answers = Answers(found.cost, first.restricted_to(found.asked), found.truth, first.offset, scale=scale)
    learn(learner, examples, labels, answers)
    return found


def interview(
    learner: LearnerState, X: Any, answer: CostOf | None, truth: TruthOf | None, candidates: Any, given: Given
) -> None:
    """Ask about each example and learn its answers: see ``CoalClassifier.interview``."""
    examples = examples_to_decide(ready(learner), X, candidates)
    _check_who_answers(learner, answer, truth)
    rows, mask = examples.rows, allowed(learner, examples.candidates, examples.n_rows)
    scale, labels = scale_of(learner), learner.classes_
    parts, remaining = (
        known_parts(learner, examples, labels, given.offset, given.asking_price),
        remaining_budget(learner),
    )

    def one_cost(i: int, _: int, k: int) -> float:
        assert answer is not None  # at a price of at most 1, every question is for a true label
        return checked_answer(answer(i, labels[k]), i, labels[k], scale)

    def one_truth(i: int, _: int) -> Any:
        return None if truth is None else truth(i)

    names = examples.names  # ledgers need them once
    for i in visiting_order(learner, len(rows)).tolist():
        if remaining is not None and remaining.empty:
            break
        if scale != scale_of(learner):
            scale = scale_of(learner)
            parts = known_parts(learner, examples, labels, given.offset, given.asking_price)
        own = None if mask is None else mask[i : i + 1]
        one = Examples(None, rows.take(np.array([i])), examples.encoder, names, own)
        of_truth = None if truth is None else partial(one_truth, i)
        done = _converse(learner, one, partial(one_cost, i), of_truth, remaining, parts.of_rows([i]))
        names = None
        warn_if_collapsed(learner)
        if not done.complete:
            break


def _check_who_answers(learner: LearnerState, answer: Any, truth: Any) -> None:
    price = learner.price_of_truth
    if truth is None and price is not None:
        raise InputError(
            f"interview needs truth=... with price_of_truth={price!r}, because the learner asks for true labels. Pass "
            "a function that returns the true label of example i."
        )
    if truth is not None and price is None:
        raise InputError(
            "interview asks for true labels only with price_of_truth, got truth=... without it. Pass "
            "price_of_truth=1 to the learner if a true label takes as much work as one cost."
        )
    if answer is None and (price is None or price > 1):
        raise InputError(
            "interview needs answer, got None. Pass a function that returns the cost of a label on example i."
        )


# -- simulated runs: all costs are known, but the learner sees only those that it asks for ---------


@dataclass
class SimulatedRun:
    """A simulated run and its progress; ``play`` continues it."""

    rows: Rows
    cost: Any  # (n, K) on the user's scale
    scale: CostScale
    names: NDArray[np.object_] | None  # of the features
    truth: Codes | None  # the columns of the true labels, where the learner may ask for them
    arrays: RunArrays
    batch: int
    stop_saving: float
    done: int = 0  # rows of the order played so far
    at_limit: bool = False  # whether a question did not fit the budget, which ends the run

    def __len__(self) -> int:
        return len(self.arrays.order)

    def learned(self, span: slice) -> tuple[Rows, RoundArrays]:
        """The rows at these positions, and what was asked about them; of a run that records nothing, all count."""
        picked = self.arrays.order[span]
        known = self.arrays.given.costs[picked]
        asked = self.asked(span) if len(self.arrays.record.mask) else ~np.isnan(known)
        return self.rows.take(picked), NO_ROUNDS._replace(asked=asked, costs=np.where(asked, known, np.nan))

    def asked(self, span: slice) -> Mask:
        """The mask of questions at these positions, (n, K), if the run records them."""
        return self.arrays.record.mask[span]


def start_run(
    learner: LearnerState,
    examples: Examples,
    labels: NDArray[Any],
    cost: Any,
    given: RoundArrays,
    order: NDArray[np.int64],
    scale: CostScale | None = None,
    *,
    record: bool = False,
    batch: int = 1,
    stop_saving: float | None = None,
) -> SimulatedRun:
    """Start a run over checked rows; ``given`` has their costs, scaled to [0, 1] by ``scale``, and their known parts.

    The run records its questions if ``record`` is true or the learner has a ledger. It ends early once further
    questions would save less than ``stop_saving`` per example.
    """
    scale = scale or scale_of(learner)
    least = _NEVER if stop_saving is None else unit_saving(learner, "stop_saving", stop_saving)
    if learner._recorder is not None:
        learner._recorder.check(all_params(learner))
    begun = is_begun(learner)
    if begun:
        settings_of(learner)
    model = ready(learner).model_ if begun else new_model(learner, labels)
    model.check(examples.rows)
    begin_with(learner, labels, model)
    given = given._replace(candidates=NO_ROUNDS.candidates if examples.candidates is None else examples.candidates)
    truth = _truths_of_run(learner, given, scale)
    widen(learner, scale)
    if (mask := allowed(learner, examples.candidates, examples.n_rows)) is not None:
        given = given._replace(candidates=mask)
    if examples.encoder is not None:
        learner.encoder_ = examples.encoder
    record = record or scale.open or learner._recorder is not None
    shape = (len(order), len(labels)) if record else (0, 0)
    recorded = NO_ROUNDS._replace(
        mask=np.zeros(shape, np.bool_),
        reasons=np.zeros(shape, np.int8),
        propensity=np.zeros(shape),
        outlook=np.zeros((shape[0], N_OUTLOOK)),
        truth=np.zeros(shape[0], np.bool_),
    )
    arrays = RunArrays(order, given, recorded)
    return SimulatedRun(examples.rows, cost, scale, examples.names, truth, arrays, batch, least)


def play(learner: LearnerState, run: SimulatedRun, n_rows: int, costs: int = UNLIMITED) -> None:
    """Continue for ``n_rows`` rows, in whole batches, or until the learner has asked for ``costs`` in total.

    With a budget that is not spread, the run ends at the first question that does not fit: ``run.at_limit``.
    """
    until = Until(min(run.done + n_rows, len(run)), costs, run.stop_saving)
    remaining = remaining_budget(learner)
    if remaining is None:
        _play_until(learner, run, until)
    while remaining is not None and _goes_on(learner, run, until, remaining):
        fitting = int(min(max(remaining.left, 0.0) // max(remaining.most_expensive_example, 1e-300), len(run)))
        if fitting >= run.batch:  # so many rows fit, whatever is asked about them
            position = min(run.done + fitting - fitting % run.batch, until.position)
            _play_until(learner, run, until._replace(position=position))
        else:
            _play_within(learner, run, remaining)
        remaining = remaining_budget(learner)


def _play_all(learner: LearnerState, X: Any, y: Any, cost: Any, classes: Any, candidates: Any) -> None:
    """Learn the costs that the learner asks for, row by row; the given costs answer."""
    examples, labels, costs = examples_to_learn(learner, X, y, cost, classes, candidates)
    scale = scale_with(learner, costs, examples.n_rows, labels, examples.candidates)
    unit, order = check_cost(costs, examples.n_rows, labels, scale), visiting_order(learner, examples.n_rows)
    run = start_run(learner, examples, labels, costs, NO_ROUNDS._replace(costs=unit), order, scale)
    while run.done < len(run) and not run.at_limit:
        play(learner, run, _PIECE)
    learner._learned_costs = cost is not None
    warn_if_collapsed(learner)
    may_miss = rule_of(learner.rule).variant != "passive"  # which asks for everything
    if may_miss and cost is None and learner.cost_matrix is None:  # else a label may be right, yet not worth its risk
        mask = run.arrays.given.candidates

        def predicted(some: NDArray[np.int64]) -> NDArray[np.int64]:
            rows = order[some]
            return learner.model_.answer(run.rows.take(rows), settings_of(learner), mask[rows] if len(mask) else mask)

        limited = learner.budget is not None
        warn_of_unlearned(labels, unit[order].argmin(axis=1), predicted, on_budget=limited, audits=learner.audits)


def has_stopped(learner: LearnerState, run: SimulatedRun) -> bool:
    """Whether further questions would save less than the run's ``stop_saving``."""
    return saving_is_below(learner.model_.state.saving, run.stop_saving)


def _goes_on(learner: LearnerState, run: SimulatedRun, until: Until, remaining: RemainingBudget) -> bool:
    run.at_limit = run.at_limit or remaining.empty
    return run.done < until.position and not run.at_limit and not learner.model_.reached(settings_of(learner), until)


def _play_until(learner: LearnerState, run: SimulatedRun, until: Until) -> None:
    start, settings, recorder = run.done, settings_of(learner), learner._recorder
    if recorder is not None:
        recorder.check(all_params(learner))
    kept = recorder is not None or run.scale.open
    with learner.model_.lock, interrupts_put_off() if kept else nullcontext():
        run.done = learner.model_.simulate(run.rows, settings, run.arrays, start, until, run.batch)
        keep_features(learner, Examples(None, run.rows, None, run.names))
        keep_inputs(learner, *run.learned(slice(start, run.done)))
        if kept and run.done > start:
            told = _told_in_run(run, slice(start, run.done), settings)
            keep(learner, told)
            if recorder is not None:
                played = _rounds_of_run(learner, run, slice(start, run.done), told)
                recorder.write(played, all_params(learner), plain_budget(learner), learned=True)


def _play_within(learner: LearnerState, run: SimulatedRun, remaining: RemainingBudget) -> None:
    """Play one batch question by question, as far as the budget goes."""
    span = slice(run.done, min(run.done + run.batch, len(run)))
    picked, given, labels = run.arrays.order[span], run.arrays.given, learner.classes_
    cost = run.scale.as_paid(np.asarray(run.cost)[picked])
    mask = given.candidates[picked] if len(given.candidates) else None
    names = run.names if run.done == 0 else None  # ledgers need them once
    truths = None if run.truth is None else run.truth[picked]

    def one_truth(row: int) -> Any:
        return None if truths is None or truths[row] == UNKNOWN else labels[truths[row]]

    found = _converse(
        learner,
        Examples(None, run.rows.take(picked), None, names, mask),
        lambda row, k: float(cost[row, k]),
        None if truths is None else one_truth,
        remaining,
        KnownParts(given.offsets, given.prices).of_rows(picked),
        run.scale,
    )
    run.done, run.at_limit = span.stop, not found.complete
    if len(run.arrays.record.mask):
        run.asked(span)[:] = found.asked


def _told_in_run(run: SimulatedRun, span: slice, settings: Settings) -> Told:
    """What was answered at these positions."""
    picked, given, record = run.arrays.order[span], run.arrays.given, run.arrays.record
    asked = record.mask[span]
    cost = np.where(asked, run.scale.as_paid(np.asarray(run.cost)[picked]), np.nan)
    rounds = NO_ROUNDS._replace(
        candidates=given.candidates[picked] if len(given.candidates) else given.candidates,
        offsets=given.offsets[picked] if len(given.offsets) else given.offsets,
        asked=asked,
        reasons=record.reasons[span],
        propensity=record.propensity[span],
        outlook=record.outlook[span],
        truth=record.truth[span],
    )
    return Told(run.rows.take(picked), cost, rounds, settings, run.scale)


def _rounds_of_run(learner: LearnerState, run: SimulatedRun, span: slice, told: Told) -> list[Round]:
    names = run.names if span.start == 0 else None
    texts, rounds, picked = label_texts(learner.classes_), told.rounds, run.arrays.order[span]
    truth = None if run.truth is None else np.where(rounds.truth, run.truth[picked], UNKNOWN)
    recorder = learner._recorder
    encoder = None if recorder is None else recorder.encoder_of(getattr(learner, "encoder_", None))
    first = int(learner.model_.state.counters[ROUND]) - len(picked)
    return rounds_from_arrays(
        first, texts, told.rows, told.cost, rounds, names, truth=truth, encoder=encoder, span=told.scale.span
    )


def _truths_of_run(learner: LearnerState, given: RoundArrays, scale: CostScale) -> Codes | None:
    """The true labels of a run, from which its costs must follow; None if they are never asked for."""
    if learner.price_of_truth is None:
        return None
    labels = learner.classes_
    matrix = check_cost(costs_by_truth(learner.cost_matrix, labels, scale), len(labels), labels, scale)
    costs = np.where(given.candidates, given.costs, np.float32(np.nan)) if len(given.candidates) else given.costs
    return truths_of(costs, matrix)


def fit_new(
    learner: LearnerState, X: Any, y: Any, cost: Any, candidates: Any, sample_weight: Any, *, active: bool
) -> None:
    """Teach a new learner all given labels or costs or, if it is ``active``, those that it asks for."""
    require_target(y, cost)
    if y is not None and hasattr(y, "__len__") and len(y) == 0:
        read_examples(learner, X, allow_empty=False)  # an empty X is the mistake, not that y has no labels
    labels = labels_of(y, cost, learner.classes, learner.cost_matrix)
    if not flag("active", active):
        learn_all(learner, X, y, cost, labels, candidates, sample_weight, fitting=True)
        return
    if sample_weight is not None:
        raise InputError(
            "sample_weight needs active=False, because an active learner chooses what it learns, got active=True. "
            "Leave one of them out."
        )
    _play_all(learner, X, y, cost, labels, candidates)
