"""``python -m benchmarks.rare_tags [kinds]``: what the tagger's default loses on names that are rare.

Of one kind of name, such as ``conll2003:MISC``, sentences are dropped at random until the kind is on 0.75 % of the
training words; other kinds become ``O``. The test words are not thinned. Passive rolls out every tag of every word.
The data is read from $COALFACE_DATA.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coalface.data.formats.conll import Sentence, read_sentences
from coalface.structured import SequenceTagger
from coalface.structured.policies import tagger_policy

SHARE = 0.0075  # of the training words
FILES = {
    "conll2003": ("conll2003_ner/train.conll.gz", "conll2003_ner/dev.conll.gz"),
    "wikineural": ("wikineural_en_ner/train.conll.gz", "wikineural_en_ner/test.conll.gz"),
}
CHOSEN_ON = ("conll2003:LOC", "wikineural:MISC")  # the constants of audits by loss
REPORTED = ("conll2003:MISC", "wikineural:ORG", "conll2003:ORG", "wikineural:LOC")


@dataclass(frozen=True)
class Rare:
    """Span F1 and roll-outs of passive and of the default on the same sentences."""

    kind: str
    seed: int
    words: int
    passive: float
    default: float
    passive_rollouts: int
    default_rollouts: int

    @property
    def share(self) -> float:
        """The share of passive's F1 that the default reaches."""
        return self.default / self.passive if self.passive > 0.0 else float("nan")

    @property
    def fewer(self) -> float:
        """How many times fewer roll-outs the default runs."""
        return self.passive_rollouts / self.default_rollouts


def only(sentences: list[Sentence], kind: str) -> list[Sentence]:
    """The sentences with one kind of name, the others as ``O``."""
    return [
        Sentence(sentence.words, tuple(tag if tag.endswith(f"-{kind}") else "O" for tag in sentence.tags))
        for sentence in sentences
    ]


def thinned(sentences: list[Sentence], share: float, rng: np.random.Generator) -> list[Sentence]:
    """The sentences in random order, without as many of those with a name as leaves names on ``share`` of the words."""
    n_names = [sum(tag != "O" for tag in sentence.tags) for sentence in sentences]
    names, words = sum(n_names), sum(map(len, sentences))
    dropped = set()
    for place in rng.permutation(len(sentences)):
        if names <= share * words:
            break
        if n_names[place]:
            dropped.add(int(place))
            names, words = names - n_names[place], words - len(sentences[place])
    return [sentences[place] for place in rng.permutation(len(sentences)) if int(place) not in dropped]


def measure(
    kind: str, train: list[Sentence], test: list[Sentence], seed: int, share: float = SHARE, **others: object
) -> Rare:
    """Compare both on one random sample and order; ``others`` are parameters of its policy."""
    name = kind.partition(":")[2]
    kept = thinned(only(train, name), share, np.random.default_rng(seed))
    learned, scored = (
        ([list(s.words) for s in part], [list(s.tags) for s in part]) for part in (kept, only(test, name))
    )
    passive = SequenceTagger(policy=tagger_policy([], rule="passive")).fit(*learned)
    tags = sorted({tag for sentence in learned[1] for tag in sentence})
    default = SequenceTagger(policy=tagger_policy(tags, **others)).fit(*learned)
    return Rare(
        kind,
        seed,
        sum(map(len, kept)),
        passive.span_f1(*scored),
        default.span_f1(*scored),
        passive.rollouts_,
        default.rollouts_,
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.rare_tags", description=__doc__)
    parser.add_argument("kinds", nargs="*", default=REPORTED, help="such as conll2003:MISC")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2], help="one random sample and order each")
    parser.add_argument("--share", type=float, default=SHARE, help="of the training words that have a name")
    parser.add_argument("--audit-rate", type=float, default=0.1, help="of the default")
    options = parser.parse_args(arguments)
    root = os.environ.get("COALFACE_DATA")
    if not root:
        print("benchmarks.rare_tags needs tagged sentences: set COALFACE_DATA to the folder that has them.")
        return
    for kind in options.kinds:
        train, test = (read_sentences(Path(root, file)) for file in FILES[kind.partition(":")[0]])
        for seed in options.seeds:
            found = measure(kind, train, test, seed, options.share, audits__rate=options.audit_rate)
            print(
                f"{kind} seed {seed}, {found.words:,} words: passive {found.passive:.4f}, default {found.default:.4f}, "
                f"share {found.share:.3f}, {found.fewer:.1f} times fewer roll-outs",
                flush=True,
            )


if __name__ == "__main__":
    main()
