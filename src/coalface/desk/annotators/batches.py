"""Batches: questions go out in one file, and their answers come back in another, hours or days later.

A question in a file is leased for a long time, so no other annotator is asked. If the lease ends first, others are
asked, and a late answer is kept all the same. A lease and a question name an answer, so the same line counts once.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from coalface.buying import AnnotatorError, reply_of
from coalface.data import lines_of_file
from coalface.desk.annotators.labelling import plain_question
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import Question
from coalface.errors import CoalfaceError, ConflictError, InputError, in_one_line
from coalface.files import atomic_write

_MOST_QUESTIONS = 50_000  # in one file, as providers allow


# to which question, under which lease, and the reply as programs give it
BatchAnswer: TypeAlias = tuple[str, str, dict[str, Any]]


class _BatchForm(Protocol):
    """How questions are written and answers are read; each line names its question and lease."""

    def line(self, question: dict[str, Any], lease_id: str) -> dict[str, Any]:
        """The line of a question."""
        ...

    def answer(self, line: dict[str, Any], asked: Callable[[str, str], list[str]]) -> BatchAnswer | None:
        """The answer in a line; None if it has none. ``asked(question, lease)`` gives the labels asked about."""
        ...


class OwnForm:
    """The form of coalface: a question as programs get it, with its "lease"; the answer adds "costs" or "label"."""

    def line(self, question: dict[str, Any], lease_id: str) -> dict[str, Any]:
        """The line of a question."""
        return {**question, "lease": lease_id}

    def answer(self, line: dict[str, Any], asked: Callable[[str, str], list[str]]) -> BatchAnswer | None:
        """The answer in a line."""
        question_id, lease_id = line.get("id"), line.get("lease")
        if not isinstance(question_id, str) or not isinstance(lease_id, str):
            raise InputError('a line must have the "id" and the "lease" of its question. Keep them as they were.')
        labels = asked(question_id, lease_id)
        if "labels" in line and not line.get("true_label") and line["labels"] != labels:
            raise InputError(f'"labels" must be {json.dumps(labels)} as in the question. Keep them as they were.')
        given = {name: line[name] for name in ("costs", "label", "price", "note") if name in line}
        if "costs" not in given and "label" not in given:
            return None
        if "costs" in given and not isinstance(given["costs"], dict):
            raise InputError(f'"costs" must be an object of label: cost, got {json.dumps(given["costs"])[:60]}.')
        return question_id, lease_id, reply_of(given)


@dataclass
class _Taken:
    """What a file of answers has brought."""

    answers: int = 0
    before: int = 0  # lines that were taken before
    late: int = 0  # among the answers
    unanswered: int = 0
    problems: list[str] = field(default_factory=list)  # one line each


def lease_batch(desk: Desk, name: str, ttl: float, most: int = _MOST_QUESTIONS) -> tuple[list[Question], str]:
    """Questions that are worth asking now, on a long lease, and the reason why there are no more.

    >>> from tempfile import TemporaryDirectory
    >>> from coalface.desk.project.project import Project
    >>> with TemporaryDirectory() as folder:
    ...     desk = Desk(Project.create(f"{folder}/mail", [{"text": "hi"}, {"text": "bye"}], labels=["a", "b"]))
    ...     questions, why = lease_batch(desk, "batch", ttl=86_400)
    ...     desk.close()
    >>> len(questions), why
    (2, 'all-leased')
    """
    found: list[Question] = []
    while len(found) < most:
        question = desk.lease(name, ttl, most_held=float("inf"))
        if isinstance(question, Question):
            found.append(question)
        elif question.reason != "looking":
            return found, question.reason
    return found, "limit"


def write_batch(desk: Desk, questions: Iterable[Question], path: str | os.PathLike[str], form: _BatchForm) -> int:
    """Write questions to a file, a line each; the number of lines. The file is complete or does not exist."""
    n_lines = 0
    with atomic_write(path) as file:
        for question in questions:
            line = form.line(plain_question(desk.project, question), question.lease_id)
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            n_lines += 1
    return n_lines


def take_batch(desk: Desk, name: str, path: str | os.PathLike[str], form: _BatchForm) -> _Taken:
    """Take the answers of a file; a line that is wrong changes nothing, and the others count.

    Follow-up questions go back to the queue; the next batch has them.
    """
    taken = _Taken()
    for number, text in enumerate(lines_of_file(Path(path)), start=1):
        try:
            if text.strip():
                _take_line(desk, name, text, form, taken)
        except (CoalfaceError, AnnotatorError) as problem:
            taken.problems.append(f"{path}, line {number}: {in_one_line(problem)}.")
    return taken


def _take_line(desk: Desk, name: str, text: str, form: _BatchForm, taken: _Taken) -> None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict):
        raise InputError(f"a line must be a JSON object, got {text[:60]!r}. Correct it.")
    found = form.answer(line, lambda question, lease: desk.displayed_labels(name, question, lease))
    if found is None:
        taken.unanswered += 1
        return
    question_id, lease_id, reply = found
    known = desk.has_answer(name, f"{lease_id}:{question_id}")
    try:
        receipt = desk.answer_reply(name, question_id, lease_id, reply)
    except ConflictError:
        if known:
            raise ConflictError(
                f"question {question_id} was answered by an earlier line, and this one differs. Nothing changed."
            ) from None
        raise
    if receipt.follow_up is not None:
        desk.release(receipt.follow_up.lease_id, name)
    taken.before += known
    taken.answers += not known
    taken.late += receipt.late and not known
