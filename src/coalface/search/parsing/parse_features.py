"""Features of a parser's state: the top of the stack (s0, s1, s2), the next words (b0, b1, b2), their dependents."""

from collections.abc import Sequence

from coalface.data.formats.conllu import Tree
from coalface.search.parsing.arc_hybrid import NO_WORD, Parse

_PAIRS = ("s1 s0", "s0 b0", "s1 b0", "s0 b1")  # whose words and tags are combined
_TRIPLES = ("s2 s1 s0", "s1 s0 b0", "s0 b0 b1", "s1 s0 b1")  # whose tags are combined


def parse_features(tree: Tree, parse: Parse) -> list[str]:
    """The names of the features that are present in a state.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"))
    >>> parse_features(tree, Parse.empty(2))[:4]
    ['s0w=ROOT', 's1w=-', 'b0w=cats', 'b1w=sleep']
    """
    places = _places(parse)
    words = {place: _at(tree.words, number) for place, number in places.items()}
    tags = {place: _at(tree.tags, number) for place, number in places.items()}
    names = [f"{place}w={words[place]}" for place in ("s0", "s1", "b0", "b1")]
    names += [f"{place}t={tag}" for place, tag in tags.items()]
    names += [f"{place}wt={words[place]} {tags[place]}" for place in ("s0", "s1", "b0")]
    for pair in _PAIRS:
        one, two = pair.split()
        names += [f"{pair}tt={tags[one]} {tags[two]}", f"{pair}wt={words[one]} {tags[two]}"]
        names += [f"{pair}tw={tags[one]} {words[two]}", f"{pair}ww={words[one]} {words[two]}"]
    for triple in _TRIPLES:
        names.append(f"{triple}={' '.join(tags[place] for place in triple.split())}")
    return names + _dependents(tree, parse, tags)


def _dependents(tree: Tree, parse: Parse, tags: dict[str, str]) -> list[str]:
    """The dependents of s0, s1 and b0, and the distance from s0 to b0."""
    names = []
    top, below = parse.stack[-1], parse.stack[-2] if len(parse.stack) > 1 else NO_WORD
    for place, word in (("s0", top), ("s1", below), ("b0", parse.next if parse.has_next else NO_WORD)):
        for side, outermost in (("left", parse.leftmost), ("right", parse.rightmost)):
            child = outermost[word] if word != NO_WORD else NO_WORD
            if child != NO_WORD:
                names.append(f"{place} {side}={parse.labels[child]}")
                names.append(f"{place} {side} t={tags[place]} {_at(tree.tags, child)}")
    names.append(f"far={min(parse.next - top, 5)} {tags['s0']} {tags['b0']}")
    return names


def _places(parse: Parse) -> dict[str, int]:
    stack = (NO_WORD, NO_WORD, *parse.stack)[-3:]
    ahead = [number if number < len(parse.heads) else NO_WORD for number in range(parse.next, parse.next + 3)]
    return dict(zip(("s2", "s1", "s0", "b0", "b1", "b2"), (*stack, *ahead), strict=True))


def _at(values: Sequence[str], number: int) -> str:
    return "-" if number == NO_WORD else "ROOT" if number == 0 else values[number - 1]
