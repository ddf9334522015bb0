"""Guidelines for annotators: a text about the whole project, and a section for each label that has one.

A line ``## refund`` begins the section of the label refund. Every other line belongs to the text before it.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from coalface.errors import FileFormatError

_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*")
_LONGEST = 1_000_000  # bytes of a file


@dataclass(frozen=True)
class Guidelines:
    r"""The text for the whole project, and texts by label.

    >>> Guidelines.of("Think of the customer.\n\n## refund\nThe customer wants money.", {"refund": "refund"})
    Guidelines(general='Think of the customer.', by_label={'refund': 'The customer wants money.'})
    """

    general: str = ""
    by_label: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, labels: Mapping[str, str]) -> "Guidelines":
        """The parts of a text; ``labels`` are by the names that headings may use, in any case of letters.

        Any other heading is part of the text.
        """
        names = {name.casefold(): label for name, label in labels.items()}
        parts: dict[str, list[str]] = {"": []}
        place = ""
        for line in text.splitlines():
            found = _HEADING.fullmatch(line)
            if found is None or found[1].casefold() not in names:
                parts[place].append(line)
            else:
                place = names[found[1].casefold()]
                parts.setdefault(place, [])
        texts = {label: "\n".join(lines).strip() for label, lines in parts.items()}
        return cls(texts.pop(""), {label: text for label, text in texts.items() if text})


def unknown_headings(text: str, labels: Sequence[str]) -> list[str]:
    r"""A line of warning for each heading ``## ...`` that is not a label, with the nearest label.

    >>> unknown_headings("## Refnd\nMoney.", ["refund", "other"])
    ['"## Refnd" is not a label: it is shown with the general text. Did you mean "## refund"?']
    """
    names, where, found = {label.casefold(): label for label in labels}, "the general text", []
    for line in text.splitlines():
        heading = _HEADING.fullmatch(line)
        if heading is None:
            continue
        if (name := heading[1].casefold()) in names:
            where = f'the label "{names[name]}"'
        elif line.startswith("##") and not line.startswith("###"):
            near = get_close_matches(name, names, 1)
            hint = f' Did you mean "## {names[near[0]]}"?' if near else ""
            found.append(f'"## {heading[1]}" is not a label: it is shown with {where}.{hint}')
    return found


def read_guidelines(path: str | os.PathLike[str]) -> str:
    """The text of a guidelines file."""
    source = Path(path)
    try:
        if source.stat().st_size > _LONGEST:
            raise FileFormatError(f"{source} must have at most {_LONGEST:,} bytes of guidelines. Shorten it.")
        return source.read_text(encoding="utf-8-sig").strip()
    except FileNotFoundError:
        raise FileFormatError(f"There is no file {source}. Write the guidelines there as text.") from None
    except (UnicodeDecodeError, OSError) as problem:
        raise FileFormatError(f"{source} must be text in UTF-8 ({problem}). Save it as that.") from None
