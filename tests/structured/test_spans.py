"""Spans as seqeval's default mode reads them, and the rules that keep tags legal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.structured.tagging.spans import span_f1, spans_of
from coalface.structured.tagging.tag_rules import tag_rules

BIO = ["B-X", "B-Y", "I-X", "I-Y", "O"]
BILOU = ["B-X", "B-Y", "I-X", "I-Y", "L-X", "L-Y", "O", "U-X", "U-Y"]


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O O", []),
        ("B-X I-X O", [(0, 2, "X")]),
        ("B-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("O I-X I-X", [(1, 3, "X")]),
        ("I-X B-X I-X", [(0, 1, "X"), (1, 3, "X")]),
        ("U-X U-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X I-X L-X I-X", [(0, 3, "X"), (3, 4, "X")]),
        ("L-X L-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-first-name I-first-name", [(0, 2, "first-name")]),
    ],
)
def test_spans_by_hand(tags: str, spans: list[tuple[int, int, str]]) -> None:
    assert spans_of(tags.split()) == spans


def test_a_span_counts_if_place_and_kind_are_right() -> None:
    truth = [["B-X", "I-X", "O", "B-Y"], ["B-X"]]
    predicted = [["B-X", "I-X", "O", "B-X"], ["O"]]
    precision, recall = 1 / 2, 1 / 3
    assert span_f1(truth, predicted) == pytest.approx(2 * precision * recall / (precision + recall))
    assert span_f1([["O"]], [["O"]]) == 0.0


@given(st.lists(st.sampled_from(["O", "X", "Y"]), max_size=12), st.data())
def test_spans_written_as_tags_come_back(kinds: list[str], data: st.DataObject) -> None:
    """Whatever the lengths, BIO and BILOU say where each span begins and ends."""
    spans, bio, bilou = [], [], []
    for kind in kinds:
        length = 1 if kind == "O" else data.draw(st.integers(1, 4))
        if kind == "O":
            bio.append("O")
            bilou.append("O")
            continue
        spans.append((len(bio), len(bio) + length, kind))
        bio += [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
        bilou += [f"U-{kind}"] if length == 1 else [f"B-{kind}", *[f"I-{kind}"] * (length - 2), f"L-{kind}"]
    assert spans_of(bio) == spans_of(bilou) == spans
    for tags, names, scheme in ((bio, BIO, "bio"), (bilou, BILOU, "bilou")):
        assert is_legal(tags, names, scheme)


def is_legal(tags: list[str], names: list[str], scheme: str) -> bool:
    allowed, before = tag_rules(np.array(names), None, scheme).allowed, len(names)
    for place, tag in enumerate(tags):
        code = names.index(tag)
        if not allowed[int(place + 1 == len(tags)), before, code]:
            return False
        before = code
    return True


@given(st.lists(st.sampled_from(BILOU), min_size=1, max_size=6))
def test_legal_tags_are_those_that_their_own_spans_would_write(tags: list[str]) -> None:
    written = ["O"] * len(tags)
    for begin, end, kind in spans_of(tags):
        written[begin:end] = [f"U-{kind}"] if end - begin == 1 else ["B-", *["I-"] * (end - begin - 2), "L-"]
        if end - begin > 1:
            written[begin:end] = [mark + kind for mark in written[begin:end]]
    assert is_legal(tags, BILOU, "bilou") == (written == tags)
