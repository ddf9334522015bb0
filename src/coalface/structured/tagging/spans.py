"""Spans of words written as tags (BIO, BILOU): read the spans from the tags, and score predicted spans by F1.

BIO marks the first word of a span ``B-KIND`` and the others ``I-KIND``. BILOU also marks the last word ``L-KIND``, and
a span of one word ``U-KIND``. ``O`` is outside all spans.
"""

from collections.abc import Iterable, Sequence

OUTSIDE = "O"

Span = tuple[int, int, str]


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The spans (first word, word after the last, kind) of tags in either scheme, as seqeval's default reads them.

    A span ends before a tag that begins a span or has another kind. A span may start without a ``B`` or ``U`` tag.

    >>> spans_of(["B-PER", "I-PER", "O", "U-LOC", "I-ORG"])
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'ORG')]
    """
    found: list[Span] = []
    begin, before, kind_before = 0, OUTSIDE, ""
    for place, tag in enumerate([*tags, OUTSIDE]):
        mark, kind = _tag_parts(tag)
        continues = mark in "IL" and before in "BI" and kind == kind_before
        if before != OUTSIDE and not continues:
            found.append((begin, place, kind_before))
        if mark != OUTSIDE and not continues:
            begin = place
        before, kind_before = mark, kind
    return found


def repaired(tags: Sequence[str], scheme: str) -> list[str]:
    """The tags of the same spans as legal tags of a scheme, "bio" or "bilou"; spans are those of ``spans_of``.

    >>> repaired(["I-PER", "I-PER", "O", "I-LOC", "B-ORG"], "bio")
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-ORG']
    >>> repaired(["B-PER", "I-PER", "O", "B-LOC"], "bilou")
    ['B-PER', 'L-PER', 'O', 'U-LOC']
    """
    found = [OUTSIDE] * len(tags)
    for begin, end, kind in spans_of(tags):
        marks = ["B"] + ["I"] * (end - begin - 1)
        if scheme == "bilou":
            marks[-1] = "U" if len(marks) == 1 else "L"
        found[begin:end] = [f"{mark}-{kind}" for mark in marks]
    return found


def _tag_parts(tag: str) -> tuple[str, str]:
    """The mark and the kind of a tag; a tag without a mark begins a span of its own kind.

    >>> _tag_parts("I-PER"), _tag_parts("NOUN")
    (('I', 'PER'), ('B', 'NOUN'))
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    mark, dash, kind = tag.partition("-")
    return (mark, kind) if dash and len(mark) == 1 and mark in "BILU" else ("B", tag)


def marks_spans(classes: Sequence[str]) -> bool:
    """Whether all tags but ``O`` mark a place in a span.

    >>> marks_spans(["B-PER", "I-PER", "O"]), marks_spans(["DT", "NN"])
    (True, False)
    """
    return all(tag == OUTSIDE or (len(tag) > 2 and tag[0] in "BILU" and tag[1] == "-") for tag in classes)


def span_f1(truth: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> float:
    """The harmonic mean of precision and recall over spans; 0 where there are no spans at all.

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
