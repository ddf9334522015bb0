"""The actions of the parser: the moves of a transition system, with labels."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from coalface.data.formats.conllu import Tree
from coalface.data.numbers import whole_number
from coalface.errors import InputError, shortened
from coalface.structured.kernels.parse_columns import BLOCK_BITS, Templates
from coalface.structured.kernels.parse_state import LEFT, N_MOVES, NO_WORD, REDUCE, RIGHT, ROOT, SHIFT, ParserActions
from coalface.structured.parsing.templates import templates_for

SYSTEMS = ("arc-hybrid", "arc-eager")  # in the order of their codes


class Grammar(NamedTuple):
    """The transition system, the labels of the treebank, and the bits of the hashed features."""

    system: str
    labels: tuple[str, ...]
    root_labels: tuple[str, ...]
    bits: int

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
        return templates_for(self.system, self.bits)


def check_system(system: Any) -> str:
    """The name of a transition system; an InputError if it is anything else.

    >>> check_system("arc-eager")
    'arc-eager'
    """
    if system not in SYSTEMS:
        raise InputError(f"system must be one of {', '.join(map(repr, SYSTEMS))}, got {shortened(system)}.")
    return str(system)


def check_bits(hash_bits: Any) -> int:
    """The number of bits of hashed features; an InputError if a template has no room for so many columns."""
    return whole_number("hash_bits", hash_bits, 1, BLOCK_BITS)


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
