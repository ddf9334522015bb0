"""The sequence tagger's loops: tag the words of sentences in order, or learn from roll-outs at each word.

A row is a word, and the rows of a sentence are adjacent. The last ``history`` entries of every row are reserved: the
kernels write the columns of the history features there before they use the row. Asking and learning are those of
``kernels.online``.

The cost of a tag is the loss of the sentence after it minus the loss after the reference's own tag; the reference
completes the sentence in both cases. It gives the true tag, or the nearest allowed one. Once it is back on the true
tags, nothing more is lost.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels.compile import inlined, kernel
from coalface.kernels.online import decide_and_answer, has_room, learn_row
from coalface.kernels.regression import clipped, gather, predict
from coalface.kernels.rules import best_answer
from coalface.kernels.state import COSTS_QUERIED, F32, I32, I64, Bool, Csr, Model, Scratch, Settings


class Sentences(NamedTuple):
    """The first row of each word's sentence and the row after it, and the columns of the history features."""

    begins: I64  # (n,)
    ends: I64  # (n,)
    history: int  # features per word
    first_column: int


class TagRules(NamedTuple):
    """Which tag may follow which, what the reference does, and what a wrong tag costs.

    The first index is 1 for the last word of a sentence, else 0. The second is the previous tag, or K before the first
    word.
    """

    allowed: Bool  # (2, K + 1, K)
    reference: I32  # (2, K + 1, K) by the true tag
    costs: F32  # (K, K) by the true tag


@inlined
def _previous_tag(n_tags: int, sentences: Sentences, tags: I32, row: int) -> int:
    return tags[row - 1] if row > sentences.begins[row] else n_tags


@inlined
def _write_history(n_tags: int, sentences: Sentences, rows: Csr, tags: I32, row: int) -> None:
    """Write one feature for the last tag, one for the last two tags, and so on."""
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
    """Make the allowed tags the candidates; returns how many there are."""
    candidates, n_allowed = scratch.candidates, 0
    for k in range(settings.n_labels):
        candidates[k] = allowed[last, previous, k]
        n_allowed += candidates[k]
    return n_allowed


@inlined
def _loss_from(sentences: Sentences, rules: TagRules, truth: I32, row: int, tag: int) -> np.float64:
    """The loss of this word and the following ones if it gets this tag and the reference completes the sentence."""
    reference, costs, end = rules.reference, rules.costs, sentences.ends[row]
    loss = np.float64(costs[truth[row], tag])
    while tag != truth[row] and row + 1 < end:
        row += 1
        tag = reference[int(row + 1 == end), tag, truth[row]]
        loss += costs[truth[row], tag]
    return loss


@inlined
def _roll_out(
    settings: Settings, sentences: Sentences, rules: TagRules, truth: I32, row: int, previous: int, costs: F32
) -> None:
    """Compute the costs of all tags of a word."""
    last = int(row + 1 == sentences.ends[row])
    own = _loss_from(sentences, rules, truth, row, rules.reference[last, previous, truth[row]])
    for k in range(settings.n_labels):
        costs[k] = clipped(np.float32(_loss_from(sentences, rules, truth, row, k) - own))


@kernel
def tag_rows(
    model: Model, settings: Settings, scratch: Scratch, rows: Csr, sentences: Sentences, allowed: Bool, tags: I32
) -> None:
    """Tag all words."""
    n_tags = settings.n_labels
    for row in range(tags.shape[0]):
        _write_history(n_tags, sentences, rows, tags, row)
        n = gather(model, settings, scratch, rows, row)
        predict(model, scratch, n)
        previous = _previous_tag(n_tags, sentences, tags, row)
        _allow(settings, scratch, allowed, int(row + 1 == sentences.ends[row]), previous)
        tags[row] = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)


@kernel
def learn_tags(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    sentences: Sentences,
    rules: TagRules,
    truth: I32,
    order: I64,
    done: I64,
    stop: int,
    budget: int,
    costs: F32,
    tags: I32,
) -> None:
    """Roll in, ask, roll out and learn for the words ``order[done[0]:stop]``, until the budget of costs is reached.

    ``done[0]`` is always the first position not done. It ends at ``stop``, or earlier if the budget is reached or the
    model is full. ``costs`` is scratch memory; ``tags`` holds the tags of the roll-in so far, and receives new ones. A
    word with only one allowed tag gets it: there is nothing to ask or to learn.
    """
    n_tags = settings.n_labels
    for position in range(done[0], stop):
        if model.counters[COSTS_QUERIED] >= budget:
            return
        row = order[position]
        previous = _previous_tag(n_tags, sentences, tags, row)
        n_allowed = _allow(settings, scratch, rules.allowed, int(row + 1 == sentences.ends[row]), previous)
        if n_allowed > 1:
            _write_history(n_tags, sentences, rows, tags, row)
            n = gather(model, settings, scratch, rows, row)
            if not has_room(model, scratch, n):
                return
            _roll_out(settings, sentences, rules, truth, row, previous, costs)
            n_asked = decide_and_answer(model, settings, scratch, n, costs)
            # as predicted before learning
            tags[row] = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)
            learn_row(model, settings, scratch, n, costs, n_asked)
        else:
            tags[row] = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)
        done[0] = position + 1
