"""Short artificial sentences with names; most words are outside names."""

import numpy as np

KINDS = {"PER": ["Ada", "Grace", "Alan"], "LOC": ["Oslo", "Rome"]}
FILLERS = ["the", "of", "saw", "in", "a", "went", "and", "to"]


def made(n_sentences: int, seed: int = 0, *, share: float = 0.25) -> tuple[list[list[str]], list[list[str]]]:
    """Words and BIO tags; a share of the words begins a name of one to three words, many of them rare."""
    random = np.random.default_rng(seed)
    sentences, tags = [], []
    for _ in range(n_sentences):
        words: list[str] = []
        marks: list[str] = []
        for _ in range(int(random.integers(1, 8))):
            if random.random() < share:
                kind = str(random.choice(list(KINDS)))
                length = int(random.integers(1, 4))
                ending = "son" if kind == "PER" else "burg"
                words += [f"X{random.integers(40)}{ending}" for _ in range(length - 1)]
                words.append(str(random.choice(KINDS[kind])))
                marks += [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
            else:
                words.append(str(random.choice(FILLERS)))
                marks.append("O")
        sentences.append(words)
        tags.append(marks)
    return sentences, tags


def as_bilou(tags: list[list[str]]) -> list[list[str]]:
    """The same spans with their ends marked."""
    found = []
    for sentence in tags:
        marked = []
        for tag, following in zip(sentence, [*sentence[1:], "O"], strict=True):
            ends = tag != "O" and following != f"I-{tag[2:]}"
            marked.append({"B": "U", "I": "L"}[tag[0]] + tag[1:] if ends else tag)
        found.append(marked)
    return found
