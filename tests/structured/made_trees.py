"""Made dependency trees."""

import numpy as np

from coalface.data.formats.conllu import Tree


def sentences(n, seed=0):
    """Subject, verb, object and maybe a "with" phrase, which modifies the verb or the object: the verb decides."""
    rng = np.random.default_rng(seed)
    nouns, verbs = [f"noun{i}" for i in range(12)], ["sees", "hits", "likes", "knows"]
    for _ in range(n):
        words, tags, heads, labels = [], [], [], []

        def add(word, tag, head, label):
            words.append(word), tags.append(tag), heads.append(head), labels.append(label)  # noqa: B023

        def phrase(head, label, at):
            if rng.random() < 0.6:
                add("the", "DET", at + 2, "det")
                at += 1
            add(rng.choice(nouns), "NOUN", head, label)
            return at + 1

        verb = int(rng.integers(4))
        at = phrase(-1, "nsubj", 0)
        add(verbs[verb], "VERB", 0, "root")
        head = at + 1
        heads[at - 1] = head
        noun = at = phrase(head, "obj", head)
        if rng.random() < 0.7:
            add("with", "ADP", -1, "case")
            after = phrase(head if verb < 2 else noun, "obl" if verb < 2 else "nmod", at + 1)
            heads[at] = after
        yield Tree(tuple(map(str, words)), tuple(tags), tuple(heads), tuple(labels))


def crossing_sentences(n, seed=0):
    """Sentences whose arcs cross: the second word's head is the last one, and the third word is the root."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        words = tuple(f"{letter}{rng.integers(3)}" for letter in "abcd")
        yield Tree(words, ("A", "B", "C", "D"), (3, 4, 0, 3), ("nsubj", "det", "root", "obj"))


def any_trees(n, seed=0, longest=12):
    """Sentences of few words with any trees, most of them with crossing arcs; some have one word, some come twice."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        n_words = int(rng.integers(1, longest + 1))
        order = rng.permutation(n_words) + 1
        heads = {int(order[place]): int(rng.choice(order[:place])) if place else 0 for place in range(n_words)}
        words, tags = (tuple(rng.choice(list(letters), n_words).tolist()) for letters in ("abcd", "NV"))
        labels = tuple(f"{'root' if head == 0 else 'arc'}{rng.integers(2)}" for _, head in sorted(heads.items()))
        found.append(Tree(words, tags, tuple(heads[word] for word in range(1, n_words + 1)), labels))
    return [*found, *found[: n // 4]]
