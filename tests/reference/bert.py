"""A sentence encoder written out plainly: padding and a mask, one head at a time, word pieces one by one."""

import json
import math
import unicodedata
from pathlib import Path

import numpy as np

_MOST_LETTERS = 100  # in a word; longer ones are unknown


def sentence_vectors(folder, texts, most_pieces=256):
    """One vector per text: the mean of the last layer over the pieces that are not padding, scaled to length 1."""
    from safetensors.numpy import load_file

    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text())
    weights = {name: np.asarray(value, np.float64) for name, value in load_file(folder / "model.safetensors").items()}
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    pieces = [word_pieces(text, vocabulary, min(most_pieces, config["max_position_embeddings"])) for text in texts]
    longest = max(map(len, pieces))
    padded = np.array([found + [0] * (longest - len(found)) for found in pieces])
    mask = np.array([[1.0] * len(found) + [0.0] * (longest - len(found)) for found in pieces])
    hidden = last_layer(weights, config, padded, mask)
    mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
    return mean / np.sqrt((mean**2).sum(1))[:, None]


def last_layer(weights, config, pieces, mask):
    """The outputs (texts, pieces, width) of the last layer."""
    epsilon, heads = config["layer_norm_eps"], config["num_attention_heads"]

    def linear(name, x):
        return np.einsum("tpi,oi->tpo", x, weights[f"{name}.weight"]) + weights[f"{name}.bias"]

    def norm(name, x):
        scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
        return scaled * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    x = weights["embeddings.word_embeddings.weight"][pieces]
    x = x + weights["embeddings.position_embeddings.weight"][: pieces.shape[1]]
    x = norm("embeddings", x + weights["embeddings.token_type_embeddings.weight"][0])
    size = x.shape[-1] // heads
    for layer in range(config["num_hidden_layers"]):
        start = f"encoder.layer.{layer}"
        query, key, value = (linear(f"{start}.attention.self.{name}", x) for name in ("query", "key", "value"))
        attended = np.zeros_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            scores = np.einsum("tqi,tki->tqk", query[..., part], key[..., part]) / math.sqrt(size)
            scores = np.where(mask[:, None, :] > 0, scores, -np.inf)
            chances = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
            attended[..., part] = np.einsum("tqk,tki->tqi", chances, value[..., part])
        x = norm(f"{start}.attention.output", linear(f"{start}.attention.output.dense", attended) + x)
        wide = linear(f"{start}.intermediate.dense", x)
        gelu = 0.5 * wide * (1.0 + np.vectorize(math.erf)(wide / math.sqrt(2.0)))
        x = norm(f"{start}.output", linear(f"{start}.output.dense", gelu) + x)
    return x


def word_pieces(text, vocabulary, most_pieces):
    """The numbers of the longest pieces of each lower-cased word, from left to right, between [CLS] and [SEP]."""
    found = [number for word in words_in(text) for number in pieces_of(word, vocabulary)]
    return [vocabulary["[CLS]"], *found[: most_pieces - 2], vocabulary["[SEP]"]]


def pieces_of(word, vocabulary):
    """The pieces of one word; [UNK] if a part of it is in no piece."""
    if len(word) > _MOST_LETTERS:
        return [vocabulary["[UNK]"]]
    found, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in vocabulary)
        end = next(ends, None)
        if end is None:
            return [vocabulary["[UNK]"]]
        found.append(vocabulary[prefix + word[start:end]])
        start = end
    return found


def words_in(text):
    """Lower-cased words without accents; punctuation marks and Chinese characters are words of their own."""
    clean = "".join(letter for letter in text if letter in "\t\n\r" or unicodedata.category(letter)[0] != "C")
    plain = "".join(letter for letter in unicodedata.normalize("NFD", clean) if unicodedata.category(letter) != "Mn")
    spaced = "".join(f" {letter} " if _stands_alone(letter) else letter for letter in plain.lower())
    return spaced.split()


def _stands_alone(letter):
    is_ascii_mark = ord(letter) < 128 and letter.isprintable() and not letter.isalnum() and not letter.isspace()
    return is_ascii_mark or unicodedata.category(letter)[0] == "P" or "\u4e00" <= letter <= "\u9fff"
