"""What a parser can do and what it sees: the moves of a transition system with labels, and its feature templates.

The templates are after Zhang and Nivre (2011), with the second stack word and morphology added. An atom is written as a
position and an attribute: "s0.w" is the word on top of the stack, "b0.t" the tag of the next word, "s0l.d" the label of
the top word's leftmost dependent. "s0b0" and "s1s0" are distances, "s0nl" and "s0nr" numbers of dependents, "s0sl" and
"s0sr" the sets of their labels. ``structured.kernels.parse_columns`` lists all positions.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from coalface.data import Tree, one_of, whole_number
from coalface.errors import InputError
from coalface.structured.kernels.parse_columns import (
    BLOCK_BITS,
    MOST_ATOMS,
    MOST_TEMPLATES,
    OTHERS,
    POSITIONS,
    Templates,
)
from coalface.structured.kernels.parse_state import LEFT, N_MOVES, NO_WORD, REDUCE, RIGHT, ROOT, SHIFT, ParserActions

SYSTEMS = ("arc-hybrid", "arc-eager")  # in the order of their codes
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


class Grammar(NamedTuple):
    """The transition system, the labels of the treebank, and the bits of the hashed features."""

    system: str
    labels: tuple[str, ...]
    root_labels: tuple[str, ...]
    bits: int

    @classmethod
    def checked(cls, system: Any, labels: Sequence[str], root_labels: Sequence[str], bits: Any) -> "Grammar":
        """The grammar; an InputError if the system is unknown, or a template has no room for so many columns."""
        columns = whole_number("hash_bits", bits, 1, BLOCK_BITS)
        return cls(one_of("system", system, SYSTEMS), tuple(labels), tuple(root_labels), columns)

    @property
    def names(self) -> list[str]:
        """The names of all actions.

        >>> Grammar("arc-eager", ("det",), ("root",), 20).names
        ['shift', 'left:det', 'right:det', 'right:root', 'reduce']
        """
        arcs = [f"{move}:{label}" for move in ("left", "right") for label in self.labels]
        roots = [f"right:{label}" for label in self.root_labels]
        return list(dict.fromkeys(["shift", *arcs, *roots, *(["reduce"] if self.system == "arc-eager" else [])]))

    @property
    def all_labels(self) -> list[str]:
        """The labels, in the order of their numbers."""
        return list(dict.fromkeys([*self.labels, *self.root_labels]))

    @property
    def actions(self) -> ParserActions:
        """The actions as the kernels read them."""
        names, labels = self.names, self.all_labels
        moves = {"shift": SHIFT, "left": LEFT, "right": RIGHT, "reduce": REDUCE}
        parts = [name.partition(":") for name in names]
        numbers = np.array([labels.index(label) if label else NO_WORD for _, _, label in parts], np.int64)
        codes = np.array([moves[move] for move, _, _ in parts], np.int64)
        of_move = codes == np.arange(N_MOVES)[:, None]
        of_move[RIGHT] &= np.isin(numbers, np.arange(len(self.labels)))
        of_move[ROOT] = (codes == RIGHT) & np.isin(numbers, [labels.index(label) for label in self.root_labels])
        first = np.array([np.flatnonzero(each)[0] if each.any() else NO_WORD for each in of_move])
        with_label = np.full((N_MOVES, len(labels)), NO_WORD, np.int64)
        for move, action in zip(*np.nonzero(of_move & (numbers != NO_WORD)), strict=True):
            with_label[move, numbers[action]] = action
        return ParserActions(SYSTEMS.index(self.system), codes, numbers, of_move, first, with_label)

    @property
    def templates(self) -> Templates:
        """The feature templates as the kernels read them."""
        return _templates_for(self.system, self.bits)


def labels_of(trees: Iterable[Tree]) -> tuple[list[str], list[str]]:
    """The labels of checked trees: those of arcs between words, and those of roots.

    >>> labels_of([Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root"))])
    (['nsubj'], ['root'])
    """
    labels: set[str] = set()
    root_labels: set[str] = set()
    for tree in trees:
        for head, label in zip(tree.heads, tree.labels, strict=True):
            (labels if head else root_labels).add(label)
    if not labels:
        raise InputError("at least one tree must have two words, got only trees of one word: arcs need a label.")
    return sorted(labels), sorted(root_labels)


def _atom_number(name: str) -> int:
    """The number of an atom.

    >>> _atom_number("s0.w"), _atom_number("s0.d"), _atom_number("s1.w")
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
def _templates_for(system: str, bits: int) -> Templates:
    """The templates of a transition system, with hashes of this many bits."""
    names = template_names(system)
    assert len(names) <= MOST_TEMPLATES
    atoms = np.full((len(names), MOST_ATOMS), NO_WORD, np.int64)
    for number, template in enumerate(names):
        atoms[number, : len(template)] = [_atom_number(name) for name in template]
    return Templates(atoms, bits, len(ATTRIBUTES))
