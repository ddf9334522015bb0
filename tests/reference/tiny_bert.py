"""Writes a folder with a tiny BERT of random weights, in the format of all-MiniLM-L6-v2."""

import json
from pathlib import Path

import numpy as np

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?!"
_WORDS = ("my", "parcel", "is", "lost", "money", "back", "where", "late", "##s", "##ed", "路")
CONFIG = {
    "hidden_act": "gelu",
    "hidden_size": 12,
    "intermediate_size": 20,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 16,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
}


def write_tiny_bert(folder, seed=0, **changed):
    """The folder with ``model.safetensors``, ``config.json`` and ``tokenizer.json``; ``changed`` settings differ."""
    from safetensors.numpy import save_file

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *_WORDS, *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    config = {**CONFIG, **changed}
    save_file(_tensors(len(pieces), config, np.random.default_rng(seed)), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_of(pieces)))
    return folder


def _tensors(n_pieces, config, rng):
    width, wide = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (n_pieces, width),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for layer in range(config["num_hidden_layers"]):
        start = f"encoder.layer.{layer}"
        sizes = {f"attention.self.{name}": (width, width) for name in ("query", "key", "value")}
        sizes |= {"attention.output.dense": (width, width), "intermediate.dense": (wide, width)}
        sizes |= {"output.dense": (width, wide)}
        for name, shape in sizes.items():
            shapes |= {f"{start}.{name}.weight": shape, f"{start}.{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{start}.{name}.weight": (width,), f"{start}.{name}.bias": (width,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def tokenizer_of(pieces, lowercase=True, strip_accents=None):
    """A ``tokenizer.json`` with these word pieces; [PAD], [UNK], [CLS] and [SEP] are the first."""
    number = {piece: place for place, piece in enumerate(pieces)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    ends = {name: {"id": name, "ids": [number[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    cls, text, sep = {"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "[SEP]"}}
    for part in (cls["SpecialToken"], text["Sequence"], sep["SpecialToken"]):
        part["type_id"] = 0
    return {
        "version": "1.0",
        "truncation": {
            "max_length": 5,
            "strategy": "LongestFirst",
            "stride": 0,
            "direction": "Right",
        },  # does not count
        "padding": None,
        "added_tokens": [{"id": number[piece], "content": piece, **flags} for piece in pieces[:4]],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [cls, text, sep],
            "pair": [cls, text, sep],
            "special_tokens": ends,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": number,
        },
    }
