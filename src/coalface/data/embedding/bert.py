"""BERT in NumPy: from the numbers of word pieces to one vector per text.

All texts of one call have the same number of word pieces, so that none needs padding and a mask.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError

Floats = NDArray[np.float32]
_ROOT_HALF = np.float32(0.5**0.5)
_ERF = np.array([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], np.float32)


class Dense(NamedTuple):
    """A linear layer; ``matrix`` (inputs, outputs) is laid out for ``x @ matrix``."""

    matrix: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """The outputs for rows of inputs (n, length, inputs)."""
        outputs: Floats = x.reshape(-1, x.shape[-1]) @ self.matrix
        outputs += self.bias
        return outputs.reshape(*x.shape[:-1], -1)


class _Norm(NamedTuple):
    """Layer normalisation: mean 0 and variance 1 within each row, then a scale and a shift."""

    scale: Floats
    shift: Floats
    epsilon: float

    def __call__(self, x: Floats) -> Floats:
        """The normalised rows, in place."""
        x -= x.mean(axis=-1, keepdims=True)
        variance = np.einsum("...i,...i->...", x, x)[..., None] / np.float32(x.shape[-1])
        x /= np.sqrt(variance + np.float32(self.epsilon))
        x *= self.scale
        x += self.shift
        return x


class _Layer(NamedTuple):
    """Self-attention and a feed-forward network, each added to its input and normalised."""

    joint: Dense  # query, key and value side by side, one product instead of three
    attended: Dense
    attention_norm: _Norm
    wide: Dense
    narrow: Dense
    output_norm: _Norm


@dataclass(frozen=True)
class Bert:
    """The weights of a BERT encoder, ready for use."""

    words: Floats
    positions: Floats  # with the first token type added
    norm: _Norm
    layers: tuple[_Layer, ...]
    n_heads: int

    @classmethod
    def of(cls, tensors: Mapping[str, Any], config: Mapping[str, Any]) -> "Bert":
        """The encoder with the tensors of a ``model.safetensors`` and the settings of a ``config.json``.

        Raises a FileFormatError if a tensor or a setting is missing, or the activation is not GELU.
        """
        try:
            if config["hidden_act"] != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
                raise FileFormatError("it must be a BERT with the activation gelu and absolute positions")
            reader = _Reader(tensors, float(config["layer_norm_eps"]))
            return cls(
                words=reader.floats("embeddings.word_embeddings.weight"),
                positions=reader.floats("embeddings.position_embeddings.weight")
                + reader.floats("embeddings.token_type_embeddings.weight")[0],
                norm=reader.norm("embeddings"),
                layers=tuple(reader.layer(number) for number in range(int(config["num_hidden_layers"]))),
                n_heads=int(config["num_attention_heads"]),
            )
        except KeyError as missing:
            raise FileFormatError(f"it has no {missing}, which a BERT has") from None

    @property
    def width(self) -> int:
        """The length of a vector."""
        return int(self.words.shape[1])

    def vectors(self, pieces: NDArray[np.int64]) -> Floats:
        """The mean over the word pieces (texts, length) of each text, scaled to length 1."""
        x = self.norm(self.words[pieces] + self.positions[: pieces.shape[1]])
        for layer in self.layers:
            x = self._through(layer, x)
        mean = x.mean(axis=1)
        vectors: Floats = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), np.float32(1e-12))
        return vectors

    def _through(self, layer: _Layer, x: Floats) -> Floats:
        x = layer.attention_norm(layer.attended(self._attention(layer.joint(x))) + x)
        return layer.output_norm(layer.narrow(_gelu(layer.wide(x))) + x)

    def _attention(self, joint: Floats) -> Floats:
        """Every word piece as a weighted mean of the values of its text, for each head."""
        n_texts, length, width = joint.shape
        size = width // 3 // self.n_heads
        query, key, value = joint.reshape(n_texts, length, 3, self.n_heads, size).transpose(2, 0, 3, 1, 4)
        scores: Floats = query @ key.swapaxes(-1, -2)
        scores *= np.float32(size**-0.5)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Floats = (scores @ value).swapaxes(1, 2).reshape(n_texts, length, -1)
        return attended


class _Reader(NamedTuple):
    """Takes layers out of the tensors of a file."""

    tensors: Mapping[str, Any]
    epsilon: float

    def floats(self, name: str) -> Floats:
        return np.ascontiguousarray(self.tensors[name], np.float32)

    def dense(self, *names: str) -> Dense:
        matrix = np.concatenate([self.floats(f"{name}.weight") for name in names]).T
        return Dense(np.ascontiguousarray(matrix), np.concatenate([self.floats(f"{name}.bias") for name in names]))

    def norm(self, name: str) -> _Norm:
        return _Norm(self.floats(f"{name}.LayerNorm.weight"), self.floats(f"{name}.LayerNorm.bias"), self.epsilon)

    def layer(self, number: int) -> _Layer:
        start = f"encoder.layer.{number}"
        attention = f"{start}.attention.self"
        return _Layer(
            joint=self.dense(*(f"{attention}.{name}" for name in ("query", "key", "value"))),
            attended=self.dense(f"{start}.attention.output.dense"),
            attention_norm=self.norm(f"{start}.attention.output"),
            wide=self.dense(f"{start}.intermediate.dense"),
            narrow=self.dense(f"{start}.output.dense"),
            output_norm=self.norm(f"{start}.output"),
        )


def _gelu(x: Floats) -> Floats:
    """``x`` times the chance that a standard normal number is below it.

    The chance is a polynomial times an exponential (Abramowitz and Stegun, 7.1.26). It is off by 1e-7 at most, as much
    as 32-bit numbers are, and takes a third of the time of SciPy's ``erf``.
    """
    size = np.abs(x)
    size *= _ROOT_HALF
    t = size * np.float32(0.3275911)
    t += np.float32(1.0)
    np.reciprocal(t, out=t)
    tail = t * _ERF[0]
    for coefficient in _ERF[1:]:
        tail += coefficient
        tail *= t
    np.square(size, out=t)
    np.negative(t, out=t)
    np.exp(t, out=t)
    tail *= t
    tail *= size  # |x| times the chance of a number further out, apart from a factor
    tail *= _ROOT_HALF
    outputs: Floats = np.maximum(x, np.float32(0.0))
    outputs -= tail
    return outputs
