"""The feature templates of the parser, after Zhang and Nivre (2011), with the second stack word and morphology added.

An atom is written as a position and an attribute: "s0.w" is the word on top of the stack, "b0.t" the tag of the next
word, "s0l.d" the label of the top word's leftmost dependent. "s0b0" and "s1s0" are distances, "s0nl" and "s0nr" numbers
of dependents, "s0sl" and "s0sr" the sets of their labels. ``structured.kernels.parse_columns`` lists all positions.
"""

from functools import cache

import numpy as np

from coalface.structured.kernels.parse_columns import (
    MOST_ATOMS,
    MOST_TEMPLATES,
    OTHERS,
    POSITIONS,
    Templates,
)
from coalface.structured.kernels.parse_state import NO_WORD

ATTRIBUTES = ("w", "t", "x", "m")  # word in lower case, universal tag, fine tag, morphology
_ALL_ATTRIBUTES = (*ATTRIBUTES, "d")  # and the label that the parser has given

# Chosen on development parts from 125, with which parsers of three languages learn no better in twice the time.
_TEMPLATES = """
s0.x | s0.m | s1.w s1.t | s1.w | s1.x | b0.w b0.t | b0.w | b0.t | b0.x | b0.m | b1.w b1.t | b1.t | b1.x | b2.w b2.t
b2.t | b2.w | s0.w s0.t b0.t | s0.m b0.m | b0.t b1.t | s1.x s0.x | s1.t b0.t | s1.x b0.x | b0.t b1.t b2.t
s0.t b0.t b1.t | s1.t s0.t b0.t b1.t | s0.x b0.x b1.x | s0.w b0.t b1.t | s0.t b0.w b1.t | s1.t s0.w b0.t
s0.t s0l.t b0.t | s0.t s0r.t b0.t | s0.t b0.t b0l.t | s1.t s1l.t s0.t | s1.t s1r.t s0.t | s1.t s0.t s0l.t | s0.w s0b0
s0.t s0b0 | b0.w s0b0 | s0.t b0.t s0b0 | s0.w s0nl | s1.w s1nl | s1.t s1nr | b0.w b0nl | s0l.w | s0l.d | s1l.w | s1l.t
s1r.w | s1r.t | b0l.w | b0l.t | b0l.d | s0l2.t | b0l2.t | s0.t s0l.t s0l2.t | b0.t b0l.t b0l2.t | s0.t s0sl
s0.t s0sr | s1.t s1sr | b0.t b0sl
"""
_HEAD = "s0h.w | s0h.t | s0.d"  # only arc-eager has words with heads on the stack


def atom_number(name: str) -> int:
    """The number of an atom.

    >>> atom_number("s0.w"), atom_number("s0.d"), atom_number("s1.w")
    (0, 4, 5)
    """
    if name in OTHERS:
        return len(POSITIONS) * len(_ALL_ATTRIBUTES) + OTHERS.index(name)
    position, attribute = name.split(".")
    return POSITIONS.index(position) * len(_ALL_ATTRIBUTES) + _ALL_ATTRIBUTES.index(attribute)


@cache
def template_names(system: str) -> list[list[str]]:
    """The atoms of each template.

    >>> template_names("arc-hybrid")[1:3]
    [['s0.m'], ['s1.w', 's1.t']]
    """
    text = _TEMPLATES + (_HEAD if system == "arc-eager" else "")
    return [template.split() for line in text.split("\n") for template in line.split("|") if template.strip()]


@cache
def templates_for(system: str, bits: int) -> Templates:
    """The templates of a transition system, with hashes of this many bits."""
    names = template_names(system)
    assert len(names) <= MOST_TEMPLATES
    atoms = np.full((len(names), MOST_ATOMS), NO_WORD, np.int64)
    for number, template in enumerate(names):
        atoms[number, : len(template)] = [atom_number(name) for name in template]
    return Templates(atoms, bits, len(ATTRIBUTES))
