"""The sequence tagger's loops: tag the words of sentences in order, or learn from roll-outs at each word.

A row is a word, and the rows of a sentence are adjacent. The last entries of every row are reserved: the kernels write
the columns of the features of earlier tags there before they use the row. Asking and learning are those of
``kernels.online``.

All tags are allowed while it learns: a tag that no true sentence has here has its true cost too, and learning it keeps
the policy from preferring it. Rules about which tag may follow which bind only ``tag_rows``. Since the reference goes
back to the true tags at the next word, the cost of a tag is what this one tag loses.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels import (
    COSTS_QUERIED,
    F32,
    GOLDEN_64,
    I32,
    I64,
    Bool,
    Csr,
    Model,
    Scratch,
    Settings,
    best_answer,
    decide_and_answer,
    forget_known_parts,
    gather,
    has_room,
    inlined,
    kernel,
    learn_row,
    mix,
    predict,
)

U64 = NDArray[np.uint64]

CONJUNCTION_BITS = 26  # of the columns of each kind of conjunction


class Sentences(NamedTuple):
    """The first row of each word's sentence and the row after it, and the columns of the features of earlier tags."""

    begins: I64  # (n,)
    ends: I64  # (n,)
    history: int  # features per word
    first_column: int
    keys: U64  # (n, kinds) what each word brings to its conjunctions with the last tag
    first_conjunction: int  # column


class TagRules(NamedTuple):
    """Which tag may follow which, and what a wrong tag costs.

    The first index of ``allowed`` is 1 for the last word of a sentence, else 0. The second is the previous tag, or K
    before the first word.
    """

    allowed: Bool  # (2, K + 1, K)
    costs: F32  # (K, K) by the true tag


@inlined
def _previous_tag(n_tags: int, sentences: Sentences, tags: I32, row: int) -> int:
    return tags[row - 1] if row > sentences.begins[row] else n_tags


@inlined
def _write_history(n_tags: int, sentences: Sentences, rows: Csr, tags: I32, row: int) -> None:
    """Write one feature for the last tag, one for the last two tags, and so on, and the conjunctions after them."""
    columns, begin, length, keys = rows.columns, sentences.begins[row], sentences.history, sentences.keys
    place = rows.indptr[row + 1] - length - keys.shape[1]
    code, combinations, column = 0, 1, sentences.first_column
    for back in range(1, length + 1):
        tag = tags[row - back] if row - back >= begin else n_tags
        code = code * (n_tags + 1) + tag
        combinations *= n_tags + 1
        columns[place + back - 1] = column + code
        column += combinations
    place, last = place + length, _previous_tag(n_tags, sentences, tags, row)
    for kind in range(keys.shape[1]):
        column = conjunction(keys[row, kind], last)
        columns[place + kind] = sentences.first_conjunction + (kind << CONJUNCTION_BITS) + column


@inlined
def conjunction(key: np.uint64, tag: int) -> int:
    """The column of a key of a word together with a tag, counted from the first column of its kind."""
    return np.int64(mix(key + np.uint64(tag + 1) * GOLDEN_64) >> np.uint64(64 - CONJUNCTION_BITS))  # type: ignore[return-value]


@inlined
def _allow(settings: Settings, scratch: Scratch, allowed: Bool, last: int, previous: int) -> None:
    """Make the allowed tags the candidates."""
    candidates = scratch.candidates
    for k in range(settings.n_labels):
        candidates[k] = allowed[last, previous, k]


@kernel
def tag_rows(
    model: Model, settings: Settings, scratch: Scratch, rows: Csr, sentences: Sentences, allowed: Bool, tags: I32
) -> None:
    """Tag all words."""
    n_tags = settings.n_labels
    forget_known_parts(scratch)
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
    costs: F32,
    truth: I32,
    order: I64,
    done: I64,
    stop: int,
    budget: int,
    tags: I32,
) -> None:
    """Roll in, ask and learn for the words ``order[done[0]:stop]``, until the budget of costs is reached.

    ``costs`` (K, K) are those of ``TagRules``. ``done[0]`` is always the first position not done. It ends at ``stop``,
    or earlier if the budget is reached or the model is full. ``tags`` holds the tags of the roll-in so far, and
    receives new ones. If there is only one tag, there is nothing to ask or to learn.
    """
    n_tags = settings.n_labels
    scratch.candidates[:n_tags] = True
    forget_known_parts(scratch)
    for position in range(done[0], stop):
        if model.counters[COSTS_QUERIED] >= budget:
            return
        row = order[position]
        if n_tags > 1:
            _write_history(n_tags, sentences, rows, tags, row)
            n = gather(model, settings, scratch, rows, row)
            if not has_room(model, scratch, n):
                return
            of_tags = costs[truth[row]]
            n_asked = decide_and_answer(model, settings, scratch, n, of_tags)
            # as predicted before learning
            tags[row] = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)
            learn_row(model, settings, scratch, n, of_tags, n_asked)
        else:
            tags[row] = 0
        done[0] = position + 1
