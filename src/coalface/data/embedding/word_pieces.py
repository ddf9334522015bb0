"""Texts as numbers of word pieces, as BERT's ``tokenizer.json`` says.

They equal those of the package ``tokenizers``, apart from marks that Unicode got or moved after 2015: it has an older
table than Python.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coalface.errors import FileFormatError

_IDEOGRAPHS = (  # code points that BERT takes as words of one character
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
_REQUIRED: Mapping[str, Mapping[str, object]] = {  # of the settings in the file; others do not matter, or are read
    "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "continuing_subword_prefix": "##"},
}


class _Letters(dict[int, str]):
    """What replaces each letter in ``str.translate``; worked out when a letter is first seen."""

    def __missing__(self, code: int) -> str:
        self[code] = found = self.replacement(chr(code), unicodedata.category(chr(code)))
        return found

    def replacement(self, letter: str, category: str) -> str:
        """The text that replaces a letter of this Unicode category."""
        raise NotImplementedError


class _Clean(_Letters):
    """Drops control characters, and puts blanks around ideographs and in place of other white space."""

    def replacement(self, letter: str, category: str) -> str:
        if letter in "\t\n\r" or category[0] == "Z":
            return " "
        if category in ("Cc", "Cf", "Co", "Cs") or letter == "\N{REPLACEMENT CHARACTER}":
            return ""
        return f" {letter} " if any(low <= ord(letter) <= high for low, high in _IDEOGRAPHS) else letter


class _Words(_Letters):
    """Puts blanks around punctuation marks; drops accents and capitals if told to."""

    def __init__(self, *, lowercase: bool, strip_accents: bool) -> None:
        super().__init__()
        self.lowercase, self.strip_accents = lowercase, strip_accents

    def replacement(self, letter: str, category: str) -> str:
        if category[0] == "P" or letter in "$+<=>^`|~":  # the last are marks in ASCII, but symbols in Unicode
            return f" {letter} "
        if self.strip_accents and category == "Mn":
            return ""
        return letter.lower() if self.lowercase else letter


@dataclass(frozen=True)
class WordPieces:
    """The vocabulary and the settings of a ``tokenizer.json``.

    >>> pieces = WordPieces(
    ...     vocabulary={"[CLS]": 0, "[SEP]": 1, "?": 2, "par": 3, "##cel": 4}, special={}, ends=(0, 1), unknown=2,
    ...     longest=100, accented=False, clean=_Clean(), words=_Words(lowercase=True, strip_accents=True),
    ... )
    >>> pieces.numbers("Parcel, parcel!", most=5)
    [0, 3, 4, 2, 1]
    """

    vocabulary: Mapping[str, int]
    special: Mapping[str, int]  # texts that are one piece wherever they stand
    ends: tuple[int, int]  # the numbers before and after every text
    unknown: int
    longest: int  # letters of a word; longer ones are unknown
    accented: bool  # accents stay
    clean: _Clean
    words: _Words

    @classmethod
    def of(cls, plain: Any) -> "WordPieces":
        """The word pieces of a ``tokenizer.json``; a FileFormatError if it works in another way than BERT's."""
        try:
            for part, settings in _REQUIRED.items():
                _require(plain[part], settings, part)
            for token in plain.get("added_tokens", ()):
                _require(token, _PLAIN, f"the token {token['content']!r}")
            model, normalizer = plain["model"], plain["normalizer"]
            lowercase, strip = bool(normalizer["lowercase"]), normalizer.get("strip_accents")
            strip = lowercase if strip is None else bool(strip)
            special = {str(token["content"]): int(token["id"]) for token in plain.get("added_tokens", ())}
            return cls(
                vocabulary={str(piece): int(number) for piece, number in model["vocab"].items()},
                special=special,
                ends=_ends(plain["post_processor"]),
                unknown=int(model["vocab"][model["unk_token"]]),
                longest=int(model["max_input_chars_per_word"]),
                accented=not strip,
                clean=_Clean(),
                words=_Words(lowercase=lowercase, strip_accents=strip),
            )
        except KeyError as missing:
            raise FileFormatError(f"its word pieces have no {missing}, which BERT's have") from None
        except FileFormatError:
            raise
        except (TypeError, ValueError, AttributeError, IndexError):
            raise FileFormatError("its word pieces are not those of a BERT") from None

    @property
    def size(self) -> int:
        """One more than the highest number of a piece."""
        return 1 + max(*self.vocabulary.values(), *self.special.values(), *self.ends)

    def numbers(self, text: str, most: int) -> list[int]:
        """The numbers of the pieces of a text, at most ``most`` with both ends."""
        first, last = self.ends
        found: list[int] = []
        for number in self._numbers(text):
            if len(found) >= most - 2:
                break
            found.append(number)
        return [first, *found, last]

    def _numbers(self, text: str) -> Iterator[int]:
        names = sorted(self.special, key=len, reverse=True)
        parts = re.split(f"({'|'.join(map(re.escape, names))})", text) if names else [text]
        for place, part in enumerate(parts):
            if place % 2:
                yield self.special[part]
            else:
                for word in self._words_in(part):
                    yield from self._pieces(word)

    def _words_in(self, text: str) -> list[str]:
        clean = text.translate(self.clean)
        return (clean if self.accented else unicodedata.normalize("NFD", clean)).translate(self.words).split(" ")

    def _pieces(self, word: str) -> list[int]:
        """The longest pieces of a word from left to right, or the unknown piece if some part is in none."""
        if len(word) > self.longest:
            return [self.unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self.vocabulary.get(prefix + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return [self.unknown]
        return found


def _require(plain: Mapping[str, Any], settings: Mapping[str, object], part: str) -> None:
    for name, wanted in settings.items():
        if plain[name] != wanted:
            raise FileFormatError(f"{name} of {part} in its word pieces must be {wanted!r}, got {plain[name]!r}")


def _ends(processor: Mapping[str, Any]) -> tuple[int, int]:
    """The numbers before and after every text, in either form that files have."""
    if processor["type"] == "BertProcessing":
        return int(processor["cls"][1]), int(processor["sep"][1])
    before, _, after = (part["SpecialToken"]["id"] if "SpecialToken" in part else "" for part in processor["single"])
    numbers = processor["special_tokens"]
    return int(numbers[before]["ids"][0]), int(numbers[after]["ids"][0])
