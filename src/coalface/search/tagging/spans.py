"""Spans of words as tags: which tags may follow which, the spans that tags stand for, and how many were found.

BIO marks the first word of a span ``B-KIND`` and its others ``I-KIND``; BILOU marks the last one of several ``L-KIND``
and a span of one word ``U-KIND``. ``O`` is outside of all spans.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError

SCHEMES = ("bio", "bilou")
_MARKS = {"bio": "BI", "bilou": "BILU"}
_OUTSIDE = "O"
_OPEN = {"bio": "", "bilou": "BI"}  # marks after which the span must go on
_STANDS_IN = {"I": "B", "L": "U"}  # what begins a span in the place of a tag that would go on with one

Span = tuple[int, int, str]


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The spans (first word, word behind the last, kind) of tags in either scheme, as seqeval's default reads them.

    A span ends before a tag that begins another or is of another kind. One without a beginning begins all the same.

    >>> spans_of(["B-PER", "I-PER", "O", "U-LOC", "I-ORG"])
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'ORG')]
    """
    found: list[Span] = []
    begin, before, kind_before = 0, _OUTSIDE, ""
    for place, tag in enumerate([*tags, _OUTSIDE]):
        mark, kind = _parts(tag)
        goes_on = mark in "IL" and before in "BI" and kind == kind_before
        if before != _OUTSIDE and not goes_on:
            found.append((begin, place, kind_before))
        if mark != _OUTSIDE and not goes_on:
            begin = place
        before, kind_before = mark, kind
    return found


def marks_spans(classes: Sequence[str]) -> bool:
    """Whether all tags but ``O`` say where in a span a word stands.

    >>> marks_spans(["B-PER", "I-PER", "O"]), marks_spans(["DT", "NN"])
    (True, False)
    """
    return all(tag == _OUTSIDE or (len(tag) > 2 and tag[0] in "BILU" and tag[1] == "-") for tag in classes)


def span_f1(truth: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> float:
    """The harmonic mean of the shares of predicted spans that are right and of true spans that are found.

    >>> span_f1([["B-PER", "I-PER", "O"]], [["B-PER", "I-PER", "B-LOC"]])
    0.6666666666666666
    """
    n_both = n_true = n_predicted = 0
    for wanted, got in zip(truth, predicted, strict=True):
        true_spans, predicted_spans = set(spans_of(wanted)), set(spans_of(got))
        n_true += len(true_spans)
        n_predicted += len(predicted_spans)
        n_both += len(true_spans & predicted_spans)
    return 2.0 * n_both / (n_true + n_predicted) if n_true + n_predicted else 0.0


def allowed_tags(classes: Sequence[str], scheme: str | None) -> NDArray[np.bool_]:
    """Which tags may follow which, (2, K + 1, K): the second axis is the tag before, last of all none.

    The first axis is 1 for the last word of a sentence, where no span may be left open.

    >>> allowed_tags(["B-X", "I-X", "O"], "bio")[0].astype(int)
    array([[1, 1, 1],
           [1, 1, 1],
           [1, 0, 1],
           [1, 0, 1]])
    """
    check_scheme(scheme)
    allowed = np.ones((2, len(classes) + 1, len(classes)), np.bool_)
    if scheme is None:
        return allowed
    parts = [_checked_parts(tag, scheme) for tag in classes]
    open_marks, names = _OPEN[scheme], list(classes)
    for before, (mark_before, kind_before) in enumerate([*parts, (_OUTSIDE, "")]):
        for tag, (mark, kind) in enumerate(parts):
            inside = mark_before in "BI" and kind == kind_before
            must_go_on = mark_before in open_marks
            allowed[0, before, tag] = inside if mark in "IL" else not must_go_on
            allowed[1, before, tag] = allowed[0, before, tag] and mark not in open_marks
    _check_ways_out(allowed, names, scheme)
    return allowed


def check_scheme(scheme: str | None) -> None:
    """Raise an InputError unless there is such a scheme, or none is wanted."""
    if scheme is not None and scheme not in SCHEMES:
        raise InputError(f"constraints must be None, 'bio' or 'bilou', got {scheme!r}.")


def reference_tags(classes: Sequence[str], allowed: NDArray[np.bool_], scheme: str | None) -> NDArray[np.int32]:
    """What the reference does, (2, K + 1, K) by the true tag: that tag, or the nearest one that is allowed.

    Where a span has not begun, its next word begins it; where one is open that should not be, it ends or goes on.

    >>> tags = ["B-X", "I-X", "O"]
    >>> reference_tags(tags, allowed_tags(tags, "bio"), "bio")[0, 2].tolist()
    [0, 0, 2]
    """
    names, column = list(classes), {tag: place for place, tag in enumerate(classes)}
    chosen = np.broadcast_to(np.arange(len(names), dtype=np.int32), allowed.shape).copy()
    if scheme is None:
        return chosen
    for last, before, true in np.argwhere(~allowed):
        mark, kind = _parts(names[true])
        kind_before = _parts(names[before])[1] if before < len(names) else kind
        wanted = [f"{_STANDS_IN.get(mark, mark)}-{kind}", f"U-{kind}", f"L-{kind_before}", f"I-{kind_before}", _OUTSIDE]
        ways = (column[tag] for tag in wanted if tag in column and allowed[last, before, column[tag]])
        chosen[last, before, true] = next(ways, np.argmax(allowed[last, before]))
    return chosen


def _parts(tag: str) -> tuple[str, str]:
    """The mark and the kind of a tag; a tag without a mark begins a span of its own kind."""
    if tag == _OUTSIDE:
        return _OUTSIDE, ""
    mark, dash, kind = tag.partition("-")
    return (mark, kind) if dash and len(mark) == 1 and mark in "BILU" else ("B", tag)


def _checked_parts(tag: str, scheme: str) -> tuple[str, str]:
    mark, dash, kind = tag.partition("-")
    if tag != _OUTSIDE and not (dash and kind and len(mark) == 1 and mark in _MARKS[scheme]):
        forms = ", ".join(f"{mark}-KIND" for mark in _MARKS[scheme])
        raise InputError(f"A tag must be O or one of {forms} with constraints={scheme!r}, got {tag!r}.")
    return (_OUTSIDE, "") if tag == _OUTSIDE else (mark, kind)


def _check_ways_out(allowed: NDArray[np.bool_], names: list[str], scheme: str) -> None:
    """After every tag something must be allowed, at the end of a sentence too."""
    stuck = np.argwhere(~allowed.any(axis=2))
    if len(stuck):
        before = int(stuck[0, 1])
        where = f"after {names[before]!r}" if before < len(names) else "at the beginning"
        raise InputError(
            f"No tag could end a sentence {where} with constraints={scheme!r} and the tags {names}. Name the missing "
            "ones too, in classes.",
            remedy={"classes": None},
        )
