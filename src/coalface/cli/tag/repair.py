"""``--repair``: illegal tags made legal before a tagger learns from them or is evaluated on them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data.formats.conll import Sentence
    from coalface.structured.tagging.sentences import TagError


def repaired_sentences(
    sentences: "list[Sentence]", scheme: str | None, saved: Path | None
) -> "tuple[list[Sentence], int]":
    """The sentences with legal tags, and how many tags had to change; the scheme may be that of a ``saved`` tagger."""
    from coalface.structured.tagging.spans import repaired
    from coalface.structured.tagging.tag_rules import check_scheme

    check_scheme(scheme)
    if scheme is None and saved is not None:
        raise InputError(
            f"--repair needs a tagger with constraints, which say what is legal; {saved} has none. Leave it out."
        )
    if scheme is None:
        raise InputError("--repair needs --constraints bio or bilou, which say what is legal. Add it.")
    found = [replace(one, tags=tuple(repaired(one.tags, scheme))) for one in sentences]
    pairs = (
        (old, new)
        for one, mended in zip(sentences, found, strict=True)
        for old, new in zip(one.tags, mended.tags, strict=True)
    )
    return found, sum(old != new for old, new in pairs)


def repair_advice(problem: "TagError", sentence: "Sentence", scheme: str | None) -> str:
    """The end of an error about a tag: names ``--repair`` where that helps."""
    from coalface.structured.tagging.sentences import UnknownTagError
    from coalface.structured.tagging.spans import repaired

    if scheme is None:
        return ""
    is_legal = repaired(sentence.tags, scheme)[problem.word] == sentence.tags[problem.word]
    if isinstance(problem, UnknownTagError) and is_legal:
        return ""
    return " Or pass --repair to make the tags legal."
