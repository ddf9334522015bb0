"""Tags for sentences, one word after the other: each row ends with features of the tags just predicted.

The rows of a sentence follow each other. The last ``history`` places of every row belong to the kernels, which write
the numbers of the history features there before they look at the row. All questions, answers and lessons are those of
``kernels.online``.

With reference roll-outs the cost of a tag is what the sentence loses after it, less what it loses after the reference's
own tag. The reference gives the true tag, or the nearest one that is allowed; from where it is on the true path again,
nothing more is lost.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels.answer import best_answer
from coalface.kernels.compile import inlined, kernel
from coalface.kernels.online import has_room, learn_row, question_row
from coalface.kernels.regression import clipped, gather, predict
from coalface.kernels.state import COSTS_QUERIED, F32, I32, I64, Bool, Csr, Model, Scratch, Settings


class Sentences(NamedTuple):
    """Where each word's sentence begins and ends, as numbers of rows, and its history features' first column."""

    begins: I64  # (n,)
    ends: I64  # (n,)
    history: int
    first_column: int


class Tagging(NamedTuple):
    """What may follow what, what the reference does, and what a wrong tag costs.

    The first axis is 1 for the last word of a sentence, else 0; the second is the tag before, K before the first word.
    """

    allowed: Bool  # (2, K + 1, K)
    reference: I32  # (2, K + 1, K) by the true tag
    costs: F32  # (K, K) by the true tag


@inlined
def _previous(n_tags: int, sentences: Sentences, tags: I32, row: int) -> int:
    return tags[row - 1] if row > sentences.begins[row] else n_tags


@inlined
def _write_history(n_tags: int, sentences: Sentences, rows: Csr, tags: I32, row: int) -> None:
    """The last tag, the last two, and so on, as one feature each."""
    columns, begin, length = rows.columns, sentences.begins[row], sentences.history
    place = rows.indptr[row + 1] - length
    code, combinations, column = 0, 1, sentences.first_column
    for back in range(1, length + 1):
        tag = tags[row - back] if row - back >= begin else n_tags
        code = code * (n_tags + 1) + tag
        combinations *= n_tags + 1
        columns[place + back - 1] = column + code
        column += combinations


@inlined
def _allow(settings: Settings, scratch: Scratch, allowed: Bool, last: int, previous: int) -> int:
    """Make the allowed tags the candidates; their number."""
    candidates, n_allowed = scratch.candidates, 0
    for k in range(settings.n_labels):
        candidates[k] = allowed[last, previous, k]
        n_allowed += candidates[k]
    return n_allowed


@inlined
def _loss_from(sentences: Sentences, tagging: Tagging, truth: I32, row: int, tag: int) -> np.float64:
    """What the sentence loses from this word on, if the word gets this tag and the reference does the rest."""
    reference, costs, end = tagging.reference, tagging.costs, sentences.ends[row]
    loss = np.float64(costs[truth[row], tag])
    while tag != truth[row] and row + 1 < end:
        row += 1
        tag = reference[int(row + 1 == end), tag, truth[row]]
        loss += costs[truth[row], tag]
    return loss


@inlined
def _roll_out(
    settings: Settings, sentences: Sentences, tagging: Tagging, truth: I32, row: int, previous: int, costs: F32
) -> None:
    """The costs of all tags of a word."""
    last = int(row + 1 == sentences.ends[row])
    own = _loss_from(sentences, tagging, truth, row, tagging.reference[last, previous, truth[row]])
    for k in range(settings.n_labels):
        costs[k] = clipped(np.float32(_loss_from(sentences, tagging, truth, row, k) - own))


@kernel
def tag_rows(
    model: Model, settings: Settings, scratch: Scratch, rows: Csr, sentences: Sentences, allowed: Bool, tags: I32
) -> None:
    """Tag the words of all sentences."""
    n_tags = settings.n_labels
    for row in range(tags.shape[0]):
        _write_history(n_tags, sentences, rows, tags, row)
        n = gather(model, settings, scratch, rows, row)
        predict(model, scratch, n)
        previous = _previous(n_tags, sentences, tags, row)
        _allow(settings, scratch, allowed, int(row + 1 == sentences.ends[row]), previous)
        tags[row] = best_answer(settings, scratch.candidates, scratch.predicted)


@kernel
def learn_tags(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    sentences: Sentences,
    tagging: Tagging,
    truth: I32,
    order: I64,
    done: I64,
    stop: int,
    budget: int,
    costs: F32,
    tags: I32,
) -> None:
    """Roll in, ask, roll out and learn for the words ``order[done[0]:stop]``, until the budget of costs is reached.

    ``done[0]`` is kept at the first position not done: in the end ``stop``, or less when the budget is reached or there
    is no room. ``costs`` is scratch memory; ``tags`` holds the tags that were rolled in with, and takes new ones. A
    word for which only one tag is allowed gets it: there is nothing to ask or to learn.
    """
    n_tags = settings.n_labels
    for position in range(done[0], stop):
        if model.counters[COSTS_QUERIED] >= budget:
            return
        row = order[position]
        previous = _previous(n_tags, sentences, tags, row)
        n_allowed = _allow(settings, scratch, tagging.allowed, int(row + 1 == sentences.ends[row]), previous)
        if n_allowed > 1:
            _write_history(n_tags, sentences, rows, tags, row)
            n = gather(model, settings, scratch, rows, row)
            if not has_room(model, scratch, n):
                return
            _roll_out(settings, sentences, tagging, truth, row, previous, costs)
            n_asked = question_row(model, settings, scratch, n, costs)
            tags[row] = best_answer(settings, scratch.candidates, scratch.predicted)  # before anything is learned here
            learn_row(model, settings, scratch, n, costs, n_asked)
        else:
            tags[row] = best_answer(settings, scratch.candidates, scratch.predicted)
        done[0] = position + 1
