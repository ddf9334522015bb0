"""Sentences at the edge: words and tags are checked once, and an error names the sentence and the word."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_array
from coalface.errors import InputError, UnknownLabelError

Words = Sequence[Sequence[str]]


class TagError(InputError):
    """A tag that cannot stand where it stands; ``sentence`` and ``word`` say where that is, ``problem`` all the rest.

    >>> raise TagError([["O"], ["O", "X"]], row=2, rule="Tags must be O.")
    Traceback (most recent call last):
    coalface.search.tagging.sentences.TagError: Sentence 1, word 1: tag 'X' cannot stand here. Tags must be O.
    """

    def __init__(self, tags: Sequence[Sequence[str]], row: int, rule: str) -> None:
        self.sentence, self.word = place_of(row, tags)
        self.problem = f"tag {tags[self.sentence][self.word]!r} cannot stand here. {rule}"
        InputError.__init__(self, f"Sentence {self.sentence}, word {self.word}: {self.problem}")


class UnknownTagError(TagError, UnknownLabelError):
    """A tag that is not among the known ones."""

    def __init__(self, tags: Sequence[Sequence[str]], row: int, known: Sequence[str]) -> None:
        number, word = place_of(row, tags)
        TagError.__init__(self, tags, row, str(UnknownLabelError(tags[number][word], known)))


def check_words(sentences: Any, name: str = "sentences") -> list[list[str]]:
    """The sentences as lists of words; an InputError if one has none, or is no list of texts.

    >>> check_words([("The", "cat"), ["It"]])
    [['The', 'cat'], ['It']]
    """
    if isinstance(sentences, str) or not hasattr(sentences, "__iter__"):
        raise InputError(f"{name} must be a list with a list of texts per sentence, got {sentences!r}.")
    found = []
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str) or not hasattr(sentence, "__iter__"):
            raise InputError(f"{name} must be lists of texts, sentence {number} is {sentence!r}. Split it into words.")
        words = [str(word) if isinstance(word, np.str_) else word for word in sentence]
        if not words:
            raise InputError(f"{name} must have at least one word each, sentence {number} has none. Leave it out.")
        for place, word in enumerate(words):
            if type(word) is not str:
                raise InputError(f"{name} must be texts, sentence {number}, word {place} is {word!r}.")
        found.append(words)
    return found


def check_tagged(sentences: Any, tags: Any) -> tuple[list[list[str]], list[list[str]]]:
    """Words and tags, as many of these as of those, in at least one sentence."""
    words, given = check_words(sentences), check_words(tags, "tags")
    if not words or len(words) != len(given):
        rule = "must be as many as sentences, at least one"
        raise InputError(f"tags {rule}, got {len(given)} for {len(words)} sentences.")
    for number, (mine, theirs) in enumerate(zip(words, given, strict=True)):
        if len(mine) != len(theirs):
            raise InputError(f"tags must be one per word, sentence {number} has {len(theirs)} for {len(mine)} words.")
    return words, given


def tag_names(classes: Any, name: str = "classes") -> NDArray[np.str_]:
    """All tags there will be, in the order given.

    >>> tag_names(["O", "B-PER"]).tolist()
    ['O', 'B-PER']
    """
    names = label_array(classes, name)
    if names.dtype.kind != "U":
        raise InputError(f"{name} must be texts, got {names[0].item()!r}.")
    return names


def tag_codes(tags: Sequence[Sequence[str]], classes: NDArray[np.str_]) -> NDArray[np.int32]:
    """The column of each tag.

    >>> tag_codes([["D", "N"], ["N"]], np.array(["D", "N"]))
    array([0, 1, 1], dtype=int32)
    """
    column = {tag: place for place, tag in enumerate(classes.tolist())}
    codes = np.array([column.get(tag, -1) for sentence in tags for tag in sentence], np.int32)
    if (codes < 0).any():
        raise UnknownTagError(tags, int(np.argmax(codes < 0)), classes.tolist())
    return codes


def check_legal(
    codes: NDArray[np.int32], tags: Sequence[Sequence[str]], allowed: NDArray[np.bool_], scheme: str | None
) -> None:
    """Raise an InputError if one of the tags may not stand where it stands."""
    lengths = np.array([len(sentence) for sentence in tags])
    ends = np.cumsum(lengths)
    last, before = np.zeros(len(codes), np.int64), np.concatenate([[0], codes[:-1]])
    last[ends - 1], before[ends - lengths] = 1, allowed.shape[2]
    wrong = ~allowed[last, before, codes]
    if wrong.any():
        raise TagError(
            tags, int(np.argmax(wrong)), f"Tags must obey constraints={scheme!r}. Repair them, or do without."
        )


def place_of(row: int, sentences: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The numbers of the sentence and of the word that stands in this row.

    >>> place_of(2, [["The", "cat"], ["It"]])
    (1, 0)
    """
    ends = np.cumsum([len(sentence) for sentence in sentences])
    number = int(np.searchsorted(ends, row, side="right"))
    return number, row - int(ends[number] - len(sentences[number]))


def split_like(sentences: Sequence[Sequence[str]], values: Sequence[str]) -> list[list[str]]:
    """One value per word, as lists like the sentences.

    >>> split_like([["The", "cat"], ["It"]], ["D", "N", "P"])
    [['D', 'N'], ['P']]
    """
    ends = np.cumsum([0, *(len(sentence) for sentence in sentences)]).tolist()
    return [list(values[begin:end]) for begin, end in pairwise(ends)]
