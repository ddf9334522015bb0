"""The committee: several models learn every answer, and the one whose answers cost least predicts and asks.

Its first member is the online model, which also keeps the counts. As long as it is alone, the committee passes every
call on to it. The first row learned decides: if it is dense and has up to 2,000 columns, the others join, and one of
them leads until there is evidence against it: see ``joining.first_leader``. They leave for good when an answered row
does not suit them. On sparse and wide rows, the class model joins where the learner may ask for true labels.

The evidence is what answers cost before they were learned, and what answers cost now on a sample of earlier rows: a
member that only follows the latest labels does well in a stream in which labels come in long runs, and has unlearned
all others. A member that costs far more learns no longer; if the leader begins to fail, it is taught the sample.
"""

from collections.abc import Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError, InputError, shortened
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.codes import FIXED_SLACK
from coalface.kernels.implied_costs import Implications
from coalface.kernels.state import ROUND, Model, RoundArrays, Settings, Until, new_scratch
from coalface.models.classes import ClassModel
from coalface.models.contract import NO_IMPLICATIONS, CostModel
from coalface.models.forest import ForestModel
from coalface.models.joining import (
    JOINING,
    ON_SPARSE,
    Member,
    check_joining,
    first_leader,
    names_that_join,
    suit_all,
)
from coalface.models.joint import JointModel
from coalface.models.leader_choice import LeaderChoice, estimated_costs, squared_errors
from coalface.models.model_arrays import copy_saved
from coalface.models.online import OnlineModel
from coalface.models.remembered import RememberedRows
from coalface.models.round_arrays import answer_chances, one_round
from coalface.models.serving import Served, ServedRun
from coalface.models.values import NO_COSTS, NO_MASK, NO_WEIGHTS, Costs, FeatureEffects, Labels, Mask, Ranged, RunArrays

_AGAIN_EVERY = 16  # rows between two comparisons on remembered rows


def _one_by_one(rows: Rows, rounds: RoundArrays) -> list[tuple[Rows, RoundArrays]]:
    """Each row with its answers."""
    if rows.n_rows == 1:
        return [(rows, rounds)]
    return [(rows.between(i, i + 1), one_round(rounds, i)) for i in range(rows.n_rows)]


def _answered_rows(known: Costs) -> NDArray[np.int64]:
    """The numbers of the rows with a known cost; the others teach nothing, and a ledger does not keep them."""
    return np.flatnonzero(~np.isnan(known).all(axis=1))


def _arrays_of(part: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of one part of a committee, under their own names."""
    return {key.removeprefix(f"{part}_"): arrays[key] for key in arrays if key.startswith(f"{part}_")}


class CommitteeModel(CostModel):
    """The model "auto": an online model, joined on dense data by those named in ``joining``.

    "classes" joins only on sparse or wide data, and only if the learner has a ``price_of_truth``. ``online`` is the
    ``OnlineModel`` that is the first member, by default one without parameters of its own.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(classes=["walk", "fly"], model="auto").tell([[1.0, 2.0]], [[0.2, 0.9]])
    >>> [member.name for member in learner.model_.members]
    ['online', 'forest', 'rbf']
    """

    learned_with = ("random_state", "audits.rate", "rule.miss_rate", "price_of_truth")
    paces_budgets = True
    default_miss_rate = FIXED_SLACK  # while the online model is alone, as it has none by itself
    models: list[CostModel]
    joined: tuple[str, ...]  # the names of the members after the online model
    leader_choice: LeaderChoice
    remembered: RememberedRows
    undecided: bool  # whether no row was learned yet

    def __init__(
        self,
        joining: Sequence[str] = ("forest", "rbf", "classes"),
        *,
        online: OnlineModel | Mapping[str, Any] | None = None,
    ) -> None:
        self.joining = joining
        self.online = online

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained committee of one."""
        check_joining(self.joining)
        begun = type(self)(**self.get_params(deep=False))
        begun.n_labels, begun.settings, begun.lock = n_labels, settings, RLock()
        begun.scratch = new_scratch(n_labels, 0)
        begun.models, begun.joined = [self._first_member().begin(n_labels, settings)], ()
        begun.leader_choice, begun.remembered = LeaderChoice.of(1, 0), RememberedRows(1, n_labels)
        begun.undecided = True
        begun.active = np.ones(n_labels, np.bool_)
        return begun

    def _first_member(self) -> OnlineModel:
        given = {} if self.online is None else self.online
        if isinstance(given, OnlineModel):
            return given
        if isinstance(given, Mapping):
            return OnlineModel(**{name: given[name] for name in given if name != "kind"})
        raise InputError(f"online must be an OnlineModel or None, got {shortened(given)}. Leave it out.")

    def linear_parameters(self) -> dict[str, Any]:
        """The parameters of the online model, which those of other members that are linear share."""
        return self._first_member().linear_parameters()

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        online = None if self.online is None else self._first_member().plain()
        return {"joining": list(self.joining), "online": online}

    def add_label(self, first_round: int) -> None:
        """Every member takes in one more label; the choice of the leader stays as it is."""
        with interrupts_put_off(), self.lock:
            for model in self.models:
                model.add_label(first_round)
            self.n_labels, self.settings = self._online.n_labels, self._online.settings
            self.remembered.add_label()
            self.scratch, self.active = new_scratch(self.n_labels, 0), self._online.active

    def set_active(self, active: Mask) -> None:
        """Say which labels, (K,), are not retired."""
        with self.lock:
            for model in [self, *self.models]:
                model.active = active

    @property
    def members(self) -> list[Member]:
        """The members, with what their answers have cost recently."""
        with self.lock:  # a row learned in another thread could let members join or leave
            leader_choice, leader = self.leader_choice, int(self.leader_choice.leader[0])
            names = ["online", *self.joined]
            facts = list(zip(names, leader_choice.mean_costs.tolist(), leader_choice.alive.tolist(), strict=True))
        return [Member(name, cost, i == leader, not alive) for i, (name, cost, alive) in enumerate(facts)]

    @property
    def leader(self) -> CostModel:
        """The member that predicts and asks."""
        return self.models[int(self.leader_choice.leader[0])]

    @property
    def alone(self) -> OnlineModel | None:
        """The online model if it is the only member."""
        return self._online if len(self.models) == 1 else None

    @property
    def _online(self) -> OnlineModel:
        first = self.models[0]
        assert isinstance(first, OnlineModel)
        return first

    @property
    def state(self) -> Model:  # type: ignore[override]
        """The counts, which the online model keeps, together with its weights."""
        return self._online.state

    def implications_for(self, settings: Settings) -> Implications:
        """The costs that answers imply, as the forest or the class model has learned them.

        There are none if the online model asks for a budget.
        """
        kinds = (ForestModel, ClassModel)
        found = [model.implications_for(settings) for model in self.models if isinstance(model, kinds)]
        return found[0] if found and settings.budget == np.inf else NO_IMPLICATIONS

    # -- predictions and ranges ------------------------------------------------------------------

    def predict(self, rows: Rows) -> Costs:
        """The predictions of the leader, (n, K)."""
        return self.leader.predict(rows)

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """The predictions and ranges of the leader."""
        return self.leader.ranges(rows, settings, first_round)

    def feature_effects(self, label: int) -> FeatureEffects | None:
        """The effects in the leader's predictions."""
        return self.leader.feature_effects(label)

    @property
    def predicting(self) -> CostModel:
        """The leader."""
        return self.leader

    def answer(self, rows: Rows, settings: Settings, candidates: Mask = NO_MASK, offsets: Costs = NO_COSTS) -> Labels:
        """The index of the best label of each row; K stands for abstaining. ``offsets`` are known parts of costs."""
        with self.lock:
            return self.leader.answer(rows, settings, candidates, offsets)

    def ask(
        self, rows: Rows, settings: Settings, rounds: RoundArrays, first_round: int | None = None, outlook: bool = True
    ) -> RoundArrays:
        """Decide which costs to ask for; with a budget the online model decides, because it can keep to one."""
        with self.lock:
            if self.alone or settings.budget < np.inf:
                return self._online.ask(rows, settings, rounds, first_round, outlook)
            return super().ask(rows, settings, rounds, first_round, outlook)

    # -- learning --------------------------------------------------------------------------------

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Every member learns the known costs, (n, K), row by row, after its answer was judged."""
        if len(weights):
            costs = np.where(weights > 0, costs, np.float32(np.nan))
        self._choose_members(rows, costs, settings)
        if self.alone:
            self.alone.learn(rows, costs, settings, first_round, weights)
            return
        everything, certain, nothing = np.ones(self.n_labels, np.bool_), np.ones(self.n_labels), np.zeros(self.n_labels)
        for i in _answered_rows(costs).tolist():
            row, known, own = rows.between(i, i + 1), costs[i : i + 1], weights[i : i + 1]
            predicted = self._predicted(row)
            self._judge(row, predicted, everything, known[0], certain, nothing)
            self._teach_others(row, known, settings, first_round + i, predicted, [own] * len(self.joined))
            self._online.learn(row, known, settings, first_round + i, own)

    def tell(self, rows: Rows, settings: Settings, rounds: RoundArrays, *, late: bool = False) -> None:
        """Learn the known costs and, unless they are late, judge the members and close a round per row."""
        with self.lock:
            candidates = rounds.candidates if len(rounds.candidates) else np.ones(rounds.costs.shape, np.bool_)
            known = np.where(candidates, rounds.costs, np.float32(np.nan))
            self._choose_members(rows, known, settings)
            if self.alone:
                self.alone.tell(rows, settings, rounds, late=late)
                return
            settings = self.resolved(settings)
            answers = rounds._replace(costs=known)
            chances, times = answer_chances(answers, settings)
            weights = [NO_WEIGHTS for _ in self.joined]
            if not late and len(rounds.reasons):  # without reasons, no answer stands for others
                weights = [model.importance(answers, settings) for model in self.models[1:]]
            offsets = rounds.offsets if len(rounds.offsets) else np.zeros(known.shape, np.float32)
            for i, (row, part) in enumerate(_one_by_one(rows, rounds)):
                one, number = slice(i, i + 1), int(self.state.counters[ROUND])
                with interrupts_put_off():  # so that all members learn the row or none does
                    if not np.isnan(known[i]).all():
                        predicted = self._predicted(row)
                        if not late:
                            given = (candidates[i], known[i], chances[i], offsets[i])
                            self._judge(row, predicted, *given, times=float(times[i]))
                        own = [of_member[one] for of_member in weights]
                        self._teach_others(row, known[one], settings, number, predicted, own)
                    self._online.tell(row, settings, part, late=late)

    def simulate(self, rows: Rows, settings: Settings, run: RunArrays, start: int, until: Until, batch: int = 1) -> int:
        """Ask, answer and tell; returns the first position of the order not done."""
        with self.lock:
            while self.undecided and start < until.position and not self.reached(settings, until):
                one = until._replace(position=min(start + 1, until.position))
                start = super().simulate(rows, settings, run, start, one, batch)
            if self.alone:
                return self.alone.simulate(rows, settings, run, start, until, batch)
            return super().simulate(rows, settings, run, start, until, batch)

    def _ranges_to_serve(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        if self.alone:
            return self.alone._ranges_to_serve(rows, settings, first_round)
        return super()._ranges_to_serve(rows, settings, first_round)

    def observe(self, rows: Rows, settings: Settings, candidates: Mask, served: Served) -> None:
        """Judge the members by the costs of the served labels and their probabilities, then learn these costs."""
        with self.lock:
            known = np.full((len(rows), self.n_labels), np.nan, np.float32)
            known[np.arange(len(rows)), served.labels] = served.costs
            self._choose_members(rows, known, settings, serving=True)
            if self.alone:
                self.alone.observe(rows, settings, candidates, served)
                return
            settings = self.resolved(settings)
            allowed = candidates if len(candidates) else np.ones(known.shape, np.bool_)
            for i in range(len(known)):
                one, row, number = slice(i, i + 1), rows.between(i, i + 1), int(self.state.counters[ROUND])
                with interrupts_put_off():  # so that all members learn the row or none does
                    predicted, chances = self._predicted(row), np.full(self.n_labels, served.chances[i])
                    self._judge(row, predicted, allowed[i], known[i], chances, np.zeros(self.n_labels))
                    self._teach_others(row, known[one], settings, number, predicted, [NO_WEIGHTS] * len(self.joined))
                    part = Served(served.labels[one], served.chances[one], served.costs[one])
                    self._online.observe(row, settings, allowed[one], part)

    def serve(self, rows: Rows, settings: Settings, run: ServedRun, start: int, stop: int) -> int:
        """Choose labels and learn their costs; returns the first position not done."""
        with self.lock:
            if self.undecided and start < stop:
                start = super().serve(rows, settings, run, start, start + 1)
            if self.alone:
                return self.alone.serve(rows, settings, run, start, stop)
            return super().serve(rows, settings, run, start, stop)

    def _choose_members(self, rows: Rows, known: Costs, settings: Settings, *, serving: bool = False) -> None:
        """Let others join if the first answered row suits them; they leave when a later one does not."""
        if self.alone and not self.undecided:
            return
        answered = _answered_rows(known)
        if not len(answered):
            return
        if self.undecided:
            self.undecided = False
            self._join(names_that_join(self.joining, rows.take(answered[:1]), settings), serving=serving)
        taught = rows if len(answered) == len(known) else rows.take(answered)
        if not ON_SPARSE.issuperset(self.joined) and not suit_all(taught, self.n_labels):
            self._dismiss()

    def _dismiss(self) -> None:
        """Leave the online model alone."""
        del self.models[1:]
        self.default_miss_rate = FIXED_SLACK
        self.joined, self.leader_choice = (), LeaderChoice.of(1, 0)
        self.remembered = RememberedRows(1, self.n_labels)

    def _join(self, names: Iterable[str], *, serving: bool = False) -> None:
        self.joined = tuple(names)
        self.models += [JOINING[name]().begin(self.n_labels, self.settings) for name in self.joined]
        self._align_members()
        self.default_miss_rate = CostModel.default_miss_rate if self.joined else FIXED_SLACK
        self.leader_choice = LeaderChoice.of(
            len(self.models), first_leader(self.joined, self.n_labels, serving=serving)
        )
        self.remembered = RememberedRows(len(self.models), self.n_labels)

    def _align_members(self) -> None:
        """Tell members that join which labels are retired, and when each was added."""
        for model in self.models[1:]:
            model.active = self.active
            model.state.since[:] = self.state.since

    def _predicted(self, row: Rows) -> list[Costs]:
        """What each member predicts for a row, (1, K)."""
        return [model.predict(row) for model in self.models]

    def _judge(
        self,
        row: Rows,
        predicted: list[Costs],
        candidates: Mask,
        known: Costs,
        chances: NDArray[np.float64],
        offset: NDArray[Any],
        times: float = 1.0,
    ) -> None:
        """Count what the members' answers for a row cost, and choose the leader; all arrays but the row are (K,)."""
        expected = None
        for model, own, alive in zip(self.models, predicted, self.leader_choice.alive, strict=True):
            if isinstance(model, JointModel) and alive:
                expected = model.expected(own, known[None])[0]
        costs = estimated_costs(np.concatenate(predicted), candidates, known, chances, offset, expected)
        often = self.state.was_best[: self.n_labels]
        times *= self.leader_choice.follow(int(np.nanargmin(known + offset)), often)
        self.leader_choice.add(costs, squared_errors(np.concatenate(predicted), known), times)
        if self.remembered.seen % _AGAIN_EVERY == _AGAIN_EVERY - 1:
            self._judge_again()
        counted = np.where(np.isnan(known), 1.0, chances)  # the others have no meaning, and a ledger does not keep them
        self.remembered.add(row, known, candidates, counted, offset, costs)

    def _judge_again(self) -> None:
        """Count what the members have forgotten of earlier rows; if the leader fails, call back those that left."""
        some = self.remembered.some()
        predicted = np.stack(self._predicted(some.rows))
        costs = estimated_costs(predicted, some.candidates, some.answers, some.chances, some.offsets)
        self.leader_choice.add_again(costs.mean(axis=1), some.costs.mean(axis=0), _AGAIN_EVERY)
        if self.leader_choice.misses_others:
            self._call_back()

    def _call_back(self) -> None:
        """Teach the members that learned no longer the remembered rows, from the beginning."""
        rows, answers = self.remembered.all()[:2]
        for place in np.flatnonzero(~self.leader_choice.alive).tolist():
            if place > 0:  # the online model learns always, because it counts
                new = JOINING[self.joined[place - 1]]().begin(self.n_labels, self.settings)
                new.active, new.state.since[:] = self.active, self.state.since
                new.learn(rows, answers, self.resolved(self.settings), 1)
                self.models[place] = new
        self.leader_choice.call_back()

    def _teach_others(
        self,
        row: Rows,
        known: Costs,
        settings: Settings,
        round_number: int,
        predicted: list[Costs],
        weights: list[Costs],
    ) -> None:
        """Teach all members but the online model, which also counts and so learns all, even if it was dropped."""
        alive = self.leader_choice.alive[1:]
        for model, learns, given, own in zip(self.models[1:], alive, weights, predicted[1:], strict=True):
            if learns:
                model.learn_predicted(row, known, settings, round_number, given, own)

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the online model cannot learn these rows; the others leave if they cannot."""
        self._online.check(rows)

    # -- files -----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the online model and, with their names before them, of the others."""
        named = {"undecided": np.array([self.undecided]), **self._online.arrays()}
        if self.alone:
            return named
        named |= {f"leader_choice_{name}": array for name, array in self.leader_choice._asdict().items()}
        named |= {f"remembered_{name}": array for name, array in self.remembered.saved().items()}
        for name, model in zip(self.joined, self.models[1:], strict=True):
            named |= {f"{name}_{key}": array for key, array in model.saved().items()}
        return named

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        undecided = np.zeros(1, np.bool_)
        copy_saved(arrays, {"undecided": undecided})
        self.undecided = bool(undecided[0])
        self._online.restore(arrays)
        self._dismiss()
        if any(name.startswith("leader_choice_") for name in arrays):
            self._restore_members(arrays)

    def _restore_members(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._join(name for name in self.joining if any(key.startswith(f"{name}_") for key in arrays))
        copy_saved(arrays, {f"leader_choice_{name}": array for name, array in self.leader_choice._asdict().items()})
        leader = int(self.leader_choice.leader[0])
        if self.undecided or not (0 <= leader < len(self.models) and self.leader_choice.alive[leader]):
            raise FileFormatError("The committee has no such leader; the model is damaged. Restore a copy.")
        self.remembered.restore(_arrays_of("remembered", arrays))
        for name, model in zip(self.joined, self.models[1:], strict=True):
            model.restore_saved(_arrays_of(name, arrays))
