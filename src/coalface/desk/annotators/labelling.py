"""Labelling by a program: worker threads lease questions, ask the annotator with retries, and store its answers."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coalface.buying import Annotator, AnnotatorError, NoAnswerError, Rates, RunEndedError, reply_of
from coalface.desk.project.project import Project
from coalface.desk.service.checks import parsed_question
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion, Question, Receipt
from coalface.desk.service.queue import MOST_HELD
from coalface.errors import CoalfaceError, ConflictError, InputError

_POLL = 0.05  # seconds before a worker without a question asks for one again


@dataclass(frozen=True)
class _LabellingResult:
    """The result of a run: answers given, questions that failed, why it stopped, and the price of the answers."""

    answers: int
    failures: int
    stopped: str
    price: float


class Labelling:
    """A program that answers the questions of one project.

    >>> from tempfile import TemporaryDirectory
    >>> from coalface.desk.project.project import Project
    >>> with TemporaryDirectory() as folder:
    ...     desk = Desk(Project.create(f"{folder}/mail", [{"text": "hi"}, {"text": "bye"}], labels=["a", "b"]))
    ...     Labelling(desk, lambda question: dict.fromkeys(question["labels"], 0.5)).run().stopped
    ...     desk.close()
    'nothing-worth-asking'
    """

    def __init__(
        self,
        desk: Desk,
        annotator: Annotator,
        name: str = "program",
        *,
        workers: int = 1,
        retries: int = 3,
        backoff: float = 1.0,
        timeout: float = 60.0,
        limit: int | None = None,
        rates: Rates | None = None,
        pause: Callable[[float], object] = time.sleep,
        progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        self.desk, self.annotator, self.name = desk, annotator, name
        self.workers = min(max(1, workers), MOST_HELD)  # each worker holds a question
        self.retries, self.backoff, self.limit = retries, backoff, limit
        self.ttl = (timeout + backoff * 2.0**retries) * (retries + 1) + 60.0
        self._rates = rates or Rates({})
        self._pause, self._progress = pause, progress
        self._lock = threading.Lock()
        self._answers = self._failures = self._failures_in_a_row = 0
        self._busy = 0  # questions that the annotator is answering now
        self._stopped: str | None = None
        self._problem: BaseException | None = None
        self._left_over: list[Question] = []  # questions that an earlier process of the same name still holds
        self._waiting: list[Question] = []  # leased questions about labels at their limits
        self._set_aside: set[int] = set()  # numbers of questions without a valid answer

    def run(self) -> _LabellingResult:
        """Label until no question is left, the budget or the limit is reached, or the annotator keeps failing."""
        before, self._left_over = self.desk.progress().price, self.desk.held(self.name)
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self._stopped = "interrupted"
            for thread in threads:
                thread.join()
        for question in self._waiting:
            self.desk.release(question.lease_id, self.name)
        if self._problem is not None:
            raise self._problem
        price = self.desk.progress().price - before
        return _LabellingResult(self._answers, self._failures, self._stopped or "", price)

    def _work(self) -> None:
        try:
            while self._stopped is None:
                with self._lock:
                    question = self._next()
                    if isinstance(question, NoQuestion) and not self._may_wait(question.reason):
                        self._stopped = self._stopped or question.reason
                if isinstance(question, Question):
                    self._ask_about(question)
                elif question.reason != "looking":
                    self._pause(_POLL)
        except BaseException as problem:  # the main thread raises it again
            self._problem, self._stopped = self._problem or problem, "failed"

    def _next(self) -> Question | NoQuestion:
        """A question that may be asked now, if the limit allows one more answer. The caller holds the lock.

        Questions about labels at their rate limits wait, and do not hold up others.
        """
        if not self._may_begin():
            return NoQuestion("limit")
        question = self._waiting_one()
        while question is None and len(self._waiting) + self._busy < MOST_HELD:
            found = self._left_over.pop() if self._left_over else self.desk.lease(self.name, self.ttl, self._set_aside)
            if isinstance(found, NoQuestion):
                return NoQuestion("rate") if self._waiting and found.reason != "looking" else found
            if self._rates.begin(found.labels):
                question = found
            else:
                self._waiting.append(found)
        self._busy += question is not None
        return NoQuestion("rate") if question is None else question

    def _waiting_one(self) -> Question | None:
        """The first question that waited and need not wait any longer; its lease is renewed."""
        for question in self._waiting:
            if self._rates.begin(question.labels):
                self._waiting.remove(question)
                try:
                    self.desk.renew(question.lease_id, self.name, self.ttl)
                except ConflictError:  # the lease has expired, and the budget has no room for the question now
                    self._rates.end(question.labels)
                    return None
                return question
        return None

    def _may_begin(self) -> bool:
        """Whether the limit allows one more answer besides those that the annotator is working on."""
        return self.limit is None or self._answers + self._busy < self.limit

    def _may_wait(self, reason: str) -> bool:
        """Whether there may be a question later: another worker is busy, or the pool is not fully scanned."""
        return reason in ("looking", "rate") or (reason in ("all-leased", "too-many-held", "limit") and self._busy > 0)

    def _ask_about(self, first: Question) -> None:
        """Ask a question and its follow-ups; a question that fails is released."""
        question: Question | None = first
        while question is not None:
            started, receipt = time.monotonic(), None
            try:
                reply = self._reply_to(question)
                took = time.monotonic() - started
                receipt = self.desk.answer_reply(self.name, question.id, question.lease_id, reply, took)
            except RunEndedError as problem:
                self.desk.release(question.lease_id, self.name)
                self._stop_early(problem)
                return
            except (AnnotatorError, InputError) as problem:
                self._note_failure(question, problem)
                return
            finally:
                self._rates.end(question.labels)
                with self._lock:
                    self._busy -= 1
                    if receipt is not None:
                        question = self._note_answer(receipt)

    def _note_answer(self, receipt: Receipt) -> Question | None:
        """Count an answer; return its follow-up if the limit allows one more. The caller holds the lock."""
        self._answers, self._failures_in_a_row = self._answers + 1, 0
        self._progress(self._answers)
        if receipt.follow_up is not None and not self._may_begin():
            self.desk.release(receipt.follow_up.lease_id, self.name)
            return None
        if receipt.follow_up is not None and not self._rates.begin(receipt.follow_up.labels):
            self._waiting.insert(0, receipt.follow_up)
            return None
        self._busy += receipt.follow_up is not None
        return receipt.follow_up

    def _reply_to(self, question: Question) -> dict[str, Any]:
        """The annotator's reply, after up to ``retries`` failed attempts."""
        attempt = 0
        while True:
            try:
                return reply_of(self.annotator(plain_question(self.desk.project, question)))
            except (NoAnswerError, RunEndedError):
                raise
            except Exception as problem:
                if attempt >= self.retries or self._stopped == "interrupted":
                    times = "1 time" if attempt == 0 else f"{attempt + 1} times"
                    raise AnnotatorError(
                        f"The annotator failed {times} on example {question.example_id!r}: {_said(problem)}"
                    ) from None
                self._pause(self.backoff * 2.0**attempt)
                attempt += 1
                self._rates.end(question.labels)
                while not self._rates.begin(question.labels):  # every attempt is a call
                    self._pause(_POLL)

    def _note_failure(self, question: Question, problem: Exception) -> None:
        """Release the question; stop the run after several failures in a row."""
        self.desk.release(question.lease_id, self.name)
        with self._lock:
            self._failures += 1
            if isinstance(problem, NoAnswerError):
                self._set_aside.add(parsed_question(question.id)[0])
            if not isinstance(problem, NoAnswerError) or problem.bought:  # a failure on record says nothing new
                self._failures_in_a_row += 1
            if self._failures_in_a_row >= max(3, self.workers):
                self._problem, self._stopped = self._problem or problem, "failed"

    def _stop_early(self, problem: RunEndedError) -> None:
        with self._lock:
            if problem.reason is None:
                self._problem = self._problem or problem
            self._stopped = self._stopped or problem.reason or "failed"


def plain_question(project: Project, question: Question) -> dict[str, Any]:
    """A question as programs get it: plain values."""
    return {
        "id": question.id,
        "example_id": question.example_id,
        "content": question.content,
        "labels": question.labels,
        "askable": [label for label in project.labels if label in question.labels or label in question.ranges],
        "known": question.known,
        **plain_project(project),
        "true_label": question.true_label,
    }


def plain_project(project: Project) -> dict[str, Any]:
    """What programs get to know about a project with each question."""
    return {
        "question": project.question,
        "guidelines": project.guidelines,
        "levels": [vars(level) for level in project.levels],
        "cost_bounds": list(project.cost_bounds),
        "true_label": project.true_label,
    }


def _said(problem: Exception) -> str:
    """What went wrong; with the kind of error, unless its message was written to stand alone."""
    return str(problem) if isinstance(problem, CoalfaceError) else f"{type(problem).__name__}: {problem}"
