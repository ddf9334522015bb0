"""Warns of sentences whose tags are not those that a parser has learned, such as XPOS in place of UPOS."""

import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from coalface.data import Tree
from coalface.errors import UnknownTagsWarning

_MISSING = "_"
_MANY = 0.2  # of the words: rare tags that a small treebank does not have are fewer
_COLUMNS = ("UPOS", "XPOS")
_SHOWN = 5


class KnownTags:
    """The tags of the learned sentences in each column; a column of sentences without such tags has ``_``.

    >>> known = KnownTags().add([Tree(("cats", "sleep"), ("NOUN", "VERB"))])
    >>> known.plain()
    {'UPOS': ['NOUN', 'VERB'], 'XPOS': ['_']}
    """

    def __init__(self, plain: dict[str, list[str]] | None = None) -> None:
        given = {} if plain is None else plain
        self._of_column = {column: set(given.get(column, ())) for column in _COLUMNS}

    def add(self, trees: Sequence[Tree]) -> "KnownTags":
        """Add the tags of sentences to be learned."""
        for column, counts in _counts_of(trees).items():
            self._of_column[column].update(counts)
        return self

    def plain(self) -> dict[str, list[str]]:
        """The tags as JSON values."""
        return {column: sorted(tags) for column, tags in self._of_column.items()}

    def warn_of_unknown(self, trees: Sequence[Tree]) -> None:
        """Warn if many words have a tag that no learned word had in the same column."""
        for column, counts in _counts_of(trees).items():
            known, n_words = self._of_column[column], counts.total()
            unknown = Counter({tag: count for tag, count in counts.items() if tag not in known})
            if known and unknown.total() > _MANY * n_words:
                warnings.warn(_text(column, unknown, known, n_words), UnknownTagsWarning, stacklevel=3)


def _counts_of(trees: Sequence[Tree]) -> dict[str, Counter[str]]:
    """How many words have each tag, by column."""
    fine = (tree.fine_tags or (_MISSING,) * len(tree) for tree in trees)
    return {
        "UPOS": Counter(chain.from_iterable(tree.tags for tree in trees)),
        "XPOS": Counter(chain.from_iterable(fine)),
    }


def _text(column: str, unknown: Counter[str], known: set[str], n_words: int) -> str:
    seen = [tag for tag, _ in unknown.most_common(_SHOWN)]
    return (
        f"{unknown.total()} of {n_words} words have a tag in column {column} that the parser has never seen there "
        f"({_listed(seen)}), so it parses them badly. It has learned {_listed(sorted(known)[:_SHOWN])}, ... "
        "Use the same tag set as in training."
    )


def _listed(tags: list[str]) -> str:
    return ", ".join(map(repr, tags))
