"""Checks the words and tags that a user passes; an error names the sentence and the word."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import label_array
from coalface.errors import InputError, UnknownLabelError

Words = Sequence[Sequence[str]]


class TagError(InputError):
    """An illegal tag; ``sentence`` and ``word`` give its place, ``problem`` the message without it.

    >>> raise TagError([["O"], ["O", "X"]], row=2, rule="Tags must be O.")
    Traceback (most recent call last):
    coalface.structured.tagging.sentences.TagError: Sentence 1, word 1: tag 'X' is not allowed here. Tags must be O.
    """

    def __init__(self, tags: Sequence[Sequence[str]], row: int, rule: str) -> None:
        self.sentence, self.word = _place_of(row, tags)
        self.problem = f"tag {tags[self.sentence][self.word]!r} is not allowed here. {rule}"
        InputError.__init__(self, f"Sentence {self.sentence}, word {self.word}: {self.problem}")


class UnknownTagError(TagError, UnknownLabelError):
    """A tag that is not among the known ones."""

    def __init__(self, tags: Sequence[Sequence[str]], row: int, known: Sequence[str]) -> None:
        number, word = _place_of(row, tags)
        TagError.__init__(self, tags, row, str(UnknownLabelError(tags[number][word], known)))


def check_words(sentences: Any, name: str = "sentences") -> list[list[str]]:
    """The sentences as lists of words; an InputError if one is empty or is not a list of strings.

    >>> check_words([("The", "cat"), ["It"]])
    [['The', 'cat'], ['It']]
    """
    if isinstance(sentences, str) or not hasattr(sentences, "__iter__"):
        raise InputError(f"{name} must be a list with one list of strings per sentence, got {sentences!r}.")
    found = []
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str) or not hasattr(sentence, "__iter__"):
            raise InputError(
                f"{name} must be lists of strings, sentence {number} is {sentence!r}. Split it into words."
            )
        words = [str(word) if isinstance(word, np.str_) else word for word in sentence]
        if not words:
            raise InputError(f"{name} must have at least one word each, sentence {number} has none. Leave it out.")
        for place, word in enumerate(words):
            if type(word) is not str:
                raise InputError(f"{name} must be strings, sentence {number}, word {place} is {word!r}.")
        found.append(words)
    return found


def check_tagged(sentences: Any, tags: Any) -> tuple[list[list[str]], list[list[str]]]:
    """The checked words and tags: at least one sentence, and one tag per word."""
    words, given = check_words(sentences), check_words(tags, "tags")
    if not words or len(words) != len(given):
        raise InputError(f"tags must have one list per sentence, at least 1: {len(words)} needed, got {len(given)}.")
    for number, (mine, theirs) in enumerate(zip(words, given, strict=True)):
        if len(mine) != len(theirs):
            raise InputError(f"tags must be one per word: sentence {number} needs {len(mine)}, got {len(theirs)}.")
    return words, given


def tag_names(classes: Any, name: str = "classes") -> NDArray[np.str_]:
    """All tags, in the order given.

    >>> tag_names(["O", "B-PER"]).tolist()
    ['O', 'B-PER']
    """
    names = label_array(classes, name)
    if names.dtype.kind != "U":
        raise InputError(f"{name} must be strings, got {names[0].item()!r}.")
    return names


def tag_codes(tags: Sequence[Sequence[str]], classes: NDArray[np.str_]) -> NDArray[np.int32]:
    """The column of each tag, over all sentences.

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
    """Raise a TagError for the first tag that may not follow the tag before it."""
    lengths = np.array([len(sentence) for sentence in tags])
    ends = np.cumsum(lengths)
    last, before = np.zeros(len(codes), np.int64), np.concatenate([[0], codes[:-1]])
    last[ends - 1], before[ends - lengths] = 1, allowed.shape[2]
    wrong = ~allowed[last, before, codes]
    if wrong.any():
        raise TagError(
            tags,
            int(np.argmax(wrong)),
            f"Tags must obey constraints={scheme!r}. Correct the tags, or train without constraints.",
        )


def _place_of(row: int, sentences: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The numbers of the sentence and of its word, for a row over all sentences.

    >>> _place_of(2, [["The", "cat"], ["It"]])
    (1, 0)
    """
    ends = np.cumsum([len(sentence) for sentence in sentences])
    number = int(np.searchsorted(ends, row, side="right"))
    return number, row - int(ends[number] - len(sentences[number]))


def split_like(sentences: Sequence[Sequence[str]], values: Sequence[str]) -> list[list[str]]:
    """One value per word, split into one list per sentence.

    >>> split_like([["The", "cat"], ["It"]], ["D", "N", "P"])
    [['D', 'N'], ['P']]
    """
    ends = np.cumsum([0, *(len(sentence) for sentence in sentences)]).tolist()
    return [list(values[begin:end]) for begin, end in pairwise(ends)]
