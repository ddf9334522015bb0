"""The features of a parser's state for the general interface: the same columns as in the compiled parser.

This is written independently of ``coalface.structured.kernels.parse_columns``, as a check of it.
"""

from collections.abc import Sequence

from coalface.structured.kernels.parse_columns import BLOCK_BITS
from coalface.structured.parsing.arc_hybrid import NO_WORD, Parse
from coalface.structured.parsing.templates import ATTRIBUTES, template_names

_64_BITS = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def parse_columns(
    parse: Parse,
    codes: Sequence[Sequence[int]],
    labels: Sequence[str],
    system: str,
    bits: int,
) -> list[int]:
    """The columns of a state's features; ``codes`` are the attributes of the root and of each word.

    >>> codes = [(1, 1, 1, 1), (2, 3, 4, 5)]
    >>> columns = parse_columns(Parse.empty(1), codes, ["nsubj"], "arc-hybrid", bits=13)
    >>> columns == sorted(columns), columns[0] < 2**13
    (True, True)
    """
    atoms = _atoms(parse, codes, labels)
    columns = []
    for number, names in enumerate(template_names(system)):
        hashed = 0
        for name in names:
            hashed = _mixed((hashed * _GOLDEN + atoms[name] + _GOLDEN) & _64_BITS)
        columns.append(number << BLOCK_BITS | hashed >> (64 - bits))
    return columns


def _atoms(parse: Parse, codes: Sequence[Sequence[int]], labels: Sequence[str]) -> dict[str, int]:
    """The value of every observation."""
    found = {}
    numbers = {label: number for number, label in enumerate(labels)}
    places = _positions(parse)
    for position, word in places.items():
        for attribute, name in enumerate(ATTRIBUTES):
            found[f"{position}.{name}"] = 0 if word == NO_WORD else codes[word][attribute]
        found[f"{position}.d"] = 0 if word == NO_WORD else numbers.get(parse.labels[word], -1) + 2
    found["s0b0"] = _distance(places["s0"], places["b0"])
    found["s1s0"] = _distance(places["s1"], places["s0"])
    for position in ("s0", "s1", "b0"):
        word = places[position]
        for side, children in zip("lr", parse.dependents(word) if word != NO_WORD else ((), ()), strict=True):
            bits = sum({1 << (numbers[parse.labels[child]] % 62) for child in children})
            found[f"{position}n{side}"] = 0 if word == NO_WORD else min(len(children), 4) + 1
            found[f"{position}s{side}"] = 0 if word == NO_WORD else bits + 1
    return found


def _positions(parse: Parse) -> dict[str, int]:
    """The word at each position, ``NO_WORD`` if there is none."""
    n_words = len(parse.heads) - 1
    stack = (NO_WORD, NO_WORD, *parse.stack)
    places = {f"s{depth}": stack[-1 - depth] for depth in range(3)}
    ahead = range(parse.next, parse.next + 4)
    places |= {f"b{number}": word if word <= n_words else NO_WORD for number, word in enumerate(ahead)}
    for position in ("s0", "s1", "s2", "b0"):
        word = places[position]
        sides = parse.dependents(word) if word != NO_WORD else ([], [])
        for side, children in zip("lr", sides, strict=True):
            places[f"{position}{side}"], places[f"{position}{side}2"] = (*children, NO_WORD, NO_WORD)[:2]
    top, below = places["s0"], places["s1"]
    places["s0h"] = parse.heads[top]
    places["s0-"] = top - 1 if top > 0 else NO_WORD
    places["s0+"] = top + 1 if top < n_words else NO_WORD
    places["s1+"] = below + 1 if below != NO_WORD else NO_WORD
    places["b0-"] = parse.next - 1
    return places


def _distance(first: int, second: int) -> int:
    """The distance of two words up to 4, then classes of longer distances; 0 if there is no such pair."""
    if NO_WORD in (first, second):
        return 0
    distance = second - first
    return distance if distance <= 4 else 5 if distance <= 7 else 6 if distance <= 12 else 7


def _mixed(bits: int) -> int:
    """The finaliser of splitmix64."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _64_BITS
    return bits ^ (bits >> 31)
