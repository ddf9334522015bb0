"""Chooses the encoder of a learner: none for numbers, one that the first raw rows make, or the user's own."""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Literal, TypeAlias

from scipy.sparse import issparse

from coalface.data.embedding.embedder import Embedder, SentenceEmbedder, embedder_again, embedder_named, plain_embedder
from coalface.data.embedding.folder import MINILM
from coalface.data.encoding.encoder import Encoder
from coalface.data.encoding.table import is_raw
from coalface.data.numbers import AUTO
from coalface.errors import InputError

Features: TypeAlias = Literal["auto", "minilm"] | Encoder | Callable[[list[str]], Any]  # a learner's parameter


def encoder_for(X: Any, features: Any, kept: Encoder | None = None) -> Encoder | None:
    """The encoder of examples, fitted; None if they are numbers that need none.

    ``kept`` is the encoder that earlier examples made.

    >>> encoder_for([[1.0, 2.0]], "auto") is None, encoder_for(["my parcel is late"], "auto")
    (True, Encoder() fitted to 1 column)
    """
    check_features(features)
    if kept is not None:
        return kept
    if isinstance(features, Encoder):
        return features if features.is_fitted else copy(features).fit(X)
    if issparse(X) or not is_raw(X):
        return None
    return Encoder(embed=embedder_of(features)).fit(X)


def encoded_rows(X: Any, encoder: Encoder | None) -> Any:
    """What the learner takes: X itself without an encoder, or the rows that the encoder makes of it.

    A sparse matrix is never encoded: it has rows that the encoder has made.

    >>> encoder = encoder_for(["my parcel is late"], "auto")
    >>> rows = encoded_rows(["my parcel"], encoder)
    >>> encoded_rows(rows, encoder) is rows
    True
    """
    if encoder is None:
        return X
    if not issparse(X):
        return encoder.transform(X)
    width: int = X.shape[-1]  # type: ignore[attr-defined]
    if width != encoder.width:
        raise InputError(
            f"A sparse X must have the {encoder.width:,} columns that the encoder makes, got {width:,}. Pass raw "
            "examples, or the result of encoder_.transform."
        )
    return X


def check_features(features: Any) -> None:
    """Raise an InputError unless ``features`` is "auto", "minilm", an encoder or a function."""
    if isinstance(features, str) and features in (AUTO, MINILM):
        return
    if not isinstance(features, Encoder) and not callable(features):
        raise InputError(
            f"features must be {AUTO!r}, {MINILM!r}, an Encoder, or a function from a list of texts to vectors, got "
            f"{features!r}. Pass one of them."
        )


def plain_features(features: Any) -> Any:
    """The parameter ``features`` as JSON values; a function by its name, which only tells readers what was used.

    >>> plain_features("auto"), plain_features(len)
    ('auto', {'function': 'len'})
    """
    if isinstance(features, Encoder):
        return features.plain()
    if isinstance(features, SentenceEmbedder):
        return {"embedder": plain_embedder(features)}
    return features if isinstance(features, str) else {"function": getattr(features, "__qualname__", repr(features))}


def features_of(plain: Any, given: Any = None) -> Any:
    """The parameter ``features`` of a file; ``given`` is the user's function or encoder, if the file needs one."""
    if isinstance(plain, Mapping) and "function" in plain:
        if given is None:
            raise InputError(f"it needs the function {plain['function']!r} of its user, pass features=...")
        return given
    if isinstance(plain, Mapping) and "embedder" in plain:
        return embedder_again(plain["embedder"], given)
    if isinstance(plain, Mapping):
        return Encoder.from_plain(plain, embed=embedder_of(given))
    return plain


def embedder_of(features: Any) -> Embedder | None:
    """The function that turns texts into vectors, if there is one.

    >>> embedder_of("auto") is None, embedder_of("minilm")
    (True, SentenceEmbedder())
    """
    if isinstance(features, Encoder):
        return features.embed
    if isinstance(features, str) and features != AUTO:
        return embedder_named(features)
    return features if callable(features) else None
