"""What turns texts into vectors: a function of the user, or a sentence encoder that files know by name and hash."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.embedding.minilm import MINILM, MINILM_SHA256
from coalface.data.encoding.contract import Embedder
from coalface.errors import InputError, shortened


def embedder_named(name: Any) -> SentenceEmbedder:
    """The sentence encoder "minilm", or the one in a folder.

    >>> embedder_named("minilm")
    SentenceEmbedder()
    """
    if isinstance(name, str) and name == MINILM:
        return SentenceEmbedder()
    if isinstance(name, str | Path) and Path(name).is_dir():
        return SentenceEmbedder(name)
    raise InputError(
        f"embed must be {MINILM!r}, the folder of a sentence encoder, or a function from a list of texts to vectors, "
        f"got {shortened(name)}."
    )


def plain_embedder(embed: Embedder | None) -> bool | dict[str, str]:
    """What a file says of it: the name and hash of a sentence encoder, or whether there is a function.

    >>> plain_embedder(None), plain_embedder(len)
    (False, True)
    """
    if isinstance(embed, SentenceEmbedder):
        return {"name": embed.name, "sha256": embed.fingerprint}
    return embed is not None


def embedder_again(plain: Any, given: Embedder | None = None) -> Embedder | None:
    """What a file described: ``given``, which must fit the description, or MiniLM itself.

    >>> embedder_again(False) is None, embedder_again(True, len)
    (True, <built-in function len>)
    """
    if not isinstance(plain, Mapping):
        if plain and given is None:
            raise InputError("this encoder needs the function that turns texts into vectors. Pass it as features")
        return given
    name, wanted = plain.get("name"), plain.get("sha256")
    if given is None and wanted == MINILM_SHA256:
        given = SentenceEmbedder()
    if not isinstance(given, SentenceEmbedder):
        raise InputError(
            f"it needs the sentence encoder {name!r}, whose weights have the SHA-256 {wanted}. Pass "
            "features=SentenceEmbedder(FOLDER)"
        )
    if given.fingerprint != wanted:
        raise InputError(
            f"it needs the sentence encoder {name!r}, whose weights have the SHA-256 {wanted}, got "
            f"{given.name!r} with {given.fingerprint}. Pass features=SentenceEmbedder(FOLDER) with the right folder"
        )
    return given
