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
    _tokenizer(pieces).save(str(folder / "tokenizer.json"))
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


def _tokenizer(pieces):
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    number = {piece: place for place, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(number, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    ends = [(name, number[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.enable_truncation(5)  # files of models may have limits of their own, which do not count
    tokenizer.enable_padding(length=8)
    return tokenizer
