"""The desk of a project: it leases questions to annotators and takes their answers.

Each call is one transaction: it writes events to the log and changes questions together. Then the model learns what the
log says. An acknowledged answer is on disk. Threads may share a desk; a project has one desk at a time.
"""

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from coalface.desk.log.events import FLAGGED, JUDGE, LABELS, RESOLVED, RESUMED, SKIPPED
from coalface.desk.log.ownership import sole_use
from coalface.desk.log.store import Store
from coalface.desk.project.label_history import checked_change
from coalface.desk.project.project import Project
from coalface.desk.service.answers import AnswerIntake
from coalface.desk.service.checks import GivenAnswer, checked_annotator, checked_text, checked_ttl
from coalface.desk.service.curation import Curation
from coalface.desk.service.messages import NoQuestion, Question, Receipt
from coalface.desk.service.project_state import ProjectState, SteadyClock
from coalface.desk.service.queue import LEASE, MOST_HELD, QuestionQueue
from coalface.desk.service.reviews import Reviews
from coalface.errors import InputError, UnknownIdError
from coalface.rounds import RENAME, LabelChange

_NO_NOTE = "note must say something. Write why you flag or skip the example."


class Desk(AnswerIntake):
    """The desk of a project; ``close`` it at the end.

    >>> from tempfile import TemporaryDirectory
    >>> examples = [{"id": "1", "text": "Where is my parcel?"}, {"id": "2", "text": "I want my money back"}]
    >>> with TemporaryDirectory() as folder:
    ...     desk = Desk(Project.create(f"{folder}/mail", examples, labels=["delivery", "refund"]))
    ...     question = desk.lease("ada")
    ...     receipt = desk.answer("ada", question.id, question.lease_id, {"delivery": 0, "refund": 1}, key="a1")
    ...     receipt.learned, receipt.follow_up, desk.progress("ada").own_costs
    ...     desk.close()
    (True, None, 2)
    """

    def __init__(self, project: Project, store: Store | None = None, clock: Callable[[], float] | None = None) -> None:
        with ExitStack() as stack:
            stack.enter_context(sole_use(project.folder))
            self.access = self.store = project.open_store(alone=True) if store is None else store
            stack.callback(self.store.close)
            self.state = ProjectState(project, self.store, clock or SteadyClock())
            self._closing = stack.pop_all()
        self._queue = QuestionQueue(self.state)
        self._reviews = Reviews(self.state)
        self._queue.shorten_leases()
        self.state.release_trusted()  # if an earlier process ended before it could

    @property
    def curation(self) -> Curation:
        """What engineers and reviewers change without questions: the pool, and costs."""
        return Curation(self._live)

    @property
    def reviews(self) -> Reviews:
        """What reviewers look up."""
        _ = self._live
        return self._reviews

    def close(self) -> None:
        """Save a snapshot and let other processes open the project; a second call does nothing."""
        with self.state.lock:
            if self._closed:
                return
            self._closed = True
        try:
            self.state.close()
        finally:
            self._closing.close()

    # -- questions ------------------------------------------------------------------------------

    def lease(
        self, annotator: str, ttl: float = LEASE, without: Collection[int] = (), *, most_held: float = MOST_HELD
    ) -> Question | NoQuestion:
        """A question for this annotator alone until the lease expires, or why there is none.

        ``without`` has the numbers of questions that the annotator does not want. A batch of questions may hold more
        than ``MOST_HELD`` at a time.
        """
        lasting = checked_ttl(ttl)
        checked_annotator(annotator)
        with self._live.lock:
            found = self._queue.lease(annotator, lasting, without, most_held)
            return found if isinstance(found, NoQuestion) else self._question(found)

    def limit_run(self, budget: Mapping[str, float], *, priced: bool = False) -> None:
        """Spend at most so many "examples" and "costs", and so much "price", from now until the desk is closed.

        What annotators hold now counts as spent. The budget of the project holds, too. ``priced`` says that the
        annotator gives prices of its own, as an LLM judge with prices of tokens does.
        """
        for name, value in budget.items():
            if name not in ("examples", "costs", "price") or not 0 <= value < math.inf:
                raise InputError(
                    f"The budget of a run must be some of examples, costs and price, got {name}={value!r}. Prices are "
                    "in the [budget] of project.toml."
                )
        limits, state = self.project.limits, self._live
        if "price" in budget and not (priced or limits.has_prices or limits.price_in or limits.price_out):
            raise InputError(
                "The project must say what questions cost if a run has a budget in price. Set price_per_cost in the "
                "[budget] of project.toml, or for an LLM judge price_in and price_out."
            )
        with state.lock:
            spent = state.counters.spent + self._queue.outstanding(limits)
            state.run_budget = limits.tightened(budget, spent).budget

    def held(self, annotator: str) -> list[Question]:
        """The questions that this annotator holds now, the newest lease first."""
        return [self._question(row) for row in self.store.held(annotator, self._live.clock())]

    # -- skips and flags ------------------------------------------------------------------------

    def skip(self, lease_id: str, annotator: str, note: str | None = None) -> None:
        """Leave a question, and its copies, to other annotators, at no cost; this annotator does not get it again.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     desk = Desk(Project.create(f"{folder}/mail", [{"text": "hi"}], labels=["delivery", "refund"]))
        ...     desk.skip(desk.lease("ada").lease_id, "ada")
        ...     desk.lease("ada").reason, desk.lease("bob").example_id == desk.held("bob")[0].example_id
        ...     desk.close()
        ('skipped', True)
        """
        said = None if note is None else checked_text(note, _NO_NOTE)
        with self._live.lock:
            lease, store = self._lease_of(lease_id, annotator), self.store
            row = store.question(lease.body["question"])
            if row is None or not row.open or row.number in self.state.counters.remarks.skipped_by(annotator):
                return
            with self.state.recording() as record:
                if row.lease == lease_id:
                    store.change(record.connection, row.number, lease=None, holder=None, expires=None)
                numbers = [row.number, *(copy.number for copy in store.copies(row) if copy.open)]
                body = {"question": row.number, "step": row.step, "questions": numbers, "until": row.expires}
                record.add(SKIPPED, body | ({"note": said} if said else {}), annotator, row.example)

    def resume(self, annotator: str, *, last: bool = False) -> bool:
        """Take back the last skip of an annotator, or all; whether there was one."""
        with self._live.lock:
            skips = self.state.counters.remarks.skips_of(annotator)
            if skips:
                with self.state.recording() as record:
                    record.add(RESUMED, {"skips": skips[-1:] if last else skips}, annotator)
            return bool(skips)

    def flag(self, lease_id: str, annotator: str, note: str) -> None:
        """Flag the example of a question, which stays one, for an engineer; the same flag again changes nothing."""
        said = checked_text(note, _NO_NOTE)
        with self._live.lock:
            lease = self._lease_of(lease_id, annotator)
            known = self.state.counters.remarks.flags.values()
            if (annotator, lease.example, said) not in {(one.who, one.example, one.body["note"]) for one in known}:
                with self.state.recording() as record:
                    record.add(FLAGGED, {"question": lease.body["question"], "note": said}, annotator, lease.example)

    def resolve(self, flag: int, who: str | None = None) -> None:
        """Record that an engineer has dealt with a flag."""
        with self._live.lock:
            found = self._live.counters.remarks.flags.get(flag)
            if found is None:
                raise UnknownIdError(f"There is no open flag {flag}. It may be resolved already.")
            with self._live.recording() as record:
                record.add(RESOLVED, {"flag": flag}, who, found.example)

    def judge(self, name: str, gate: float | None = None) -> None:
        """Say that an annotator is a program, to be checked against people on the examples that both see.

        While its agreement with people is below the ``gate``, its answers are held back: they are kept, but the model
        does not learn them. None leaves the gate as it is, 0 removes it.
        """
        checked_annotator(name)
        with self._live.lock:
            known = self._live.counters.judges
            wanted = known.get(name, 0.0) if gate is None else _checked_gate(gate, self.project.overlap)
            if known.get(name) != wanted:
                with self._live.recording() as record:
                    record.add(JUDGE, {"gate": wanted}, name)

    # -- answers --------------------------------------------------------------------------------

    def answer(
        self,
        annotator: str,
        question_id: str,
        lease_id: str,
        costs: Mapping[str, float | None],
        key: str,
        seconds: float | None = None,
        note: str | None = None,
        price: float | None = None,
        ahead: Collection[str] = (),
        *,
        levels: bool = False,
    ) -> Receipt:
        """Take the costs of some labels, None for "can't tell", which is also assumed for missing labels.

        The same ``key`` again gives the same receipt. ``price`` replaces the usual price of the answer. ``ahead`` names
        labels of ``Question.later`` that the annotator was asked about as well; other further labels are volunteered.
        If the question is for the true label, only "can't tell" can be answered here. With ``levels``, a cost must be
        one of the levels of the scale, if it has any.
        """
        state, given = self._live, GivenAnswer.of(annotator, question_id, lease_id, key, seconds, note, price)
        known, later = state.known_costs(costs), tuple(state.known_costs(dict.fromkeys(ahead)))
        return self._take(replace(given, costs=state.project.scale.checked(known, levels=levels), ahead=later))

    def answer_truth(
        self,
        annotator: str,
        question_id: str,
        lease_id: str,
        label: str | None,
        key: str,
        seconds: float | None = None,
        note: str | None = None,
        price: float | None = None,
    ) -> Receipt:
        """Take the true label, which gives the cost of every label; None for "can't tell"."""
        state, given = self._live, GivenAnswer.of(annotator, question_id, lease_id, key, seconds, note, price)
        costs = dict[str, float | None]()
        if label is not None:
            label = state.known_label(label)
            costs = dict(zip(state.project.labels, state.project.costs_of_truth(label).tolist(), strict=True))
        return self._take(replace(given, costs=costs, whole=True, truth=label))

    def answer_reply(
        self, annotator: str, question_id: str, lease_id: str, reply: Mapping[str, Any], seconds: float | None = None
    ) -> Receipt:
        """Take a program's reply, once: its "costs" or its true "label", and its "note" and "price", if it has any."""
        key, note, price = f"{lease_id}:{question_id}", reply.get("note"), reply.get("price")
        if "costs" in reply:
            return self.answer(annotator, question_id, lease_id, reply["costs"], key, seconds, note, price)
        return self.answer_truth(annotator, question_id, lease_id, reply["label"], key, seconds, note, price)

    # -- labels ---------------------------------------------------------------------------------

    def change_labels(self, change: LabelChange, who: str | None = None) -> Project:
        """Add, rename or retire a label; returns the project with its labels from now on.

        Questions that annotators hold stay as they are displayed. Others never ask about a retired label again.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     desk = Desk(Project.create(f"{folder}/mail", [{"text": "hi"}], labels=["delivery", "refund"]))
        ...     desk.change_labels(LabelChange("add", "legal", round=0)).offered
        ...     desk.close()
        ['delivery', 'refund', 'legal']
        """
        with self._live.lock:
            change = checked_change(self.project, replace(change, round=self._live.counters.cursor + 1))
            with self._live.recording() as record:
                if change.kind == RENAME:
                    self._queue.rename(record, change.label, change.new_name)
                record.add(LABELS, change.to_json(), who)
            return self.project


def _checked_gate(gate: float, overlap: float) -> float:
    """The gate, from 0 for none to below 1; people can only check a judge on examples that both see.

    >>> _checked_gate(0.6, overlap=1.2)
    0.6
    """
    if not 0.0 <= gate < 1.0:
        raise InputError(f"The agreement must be at least 0, for no gate, and below 1, got {gate!r}. 0.6 is usual.")
    if gate and overlap == 1:
        raise InputError(
            "A judge can be checked only on examples that people see too, but overlap is 1. "
            "Set overlap in project.toml to 1.2, for a fifth of the examples, or more."
        )
    return float(gate)
