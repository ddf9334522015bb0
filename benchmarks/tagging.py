"""``python -m benchmarks.tagging [--crf] [--quick]``: the tagger against VW's ``--search`` and a CRF.

All get the same features of words. VW reads them from its cache, without start-up, and coalface from memory. Both make
the same number of passes, roll out every tag of every word and run on one core. The CRF is crfsuite's, with L-BFGS and
the penalties of its tutorial. It sees whole sentences and takes minutes, so it runs only with ``--crf``. The data is
read from $COALFACE_DATA.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.interleaved import interleave
from benchmarks.machine import Seconds, run_python, timed, use_one_core
from benchmarks.vw import Driver
from coalface import CoalClassifier
from coalface.data.encoding.text import WINDOW, word_features
from coalface.data.formats.conll import Sentence, read_sentences
from coalface.structured import SequenceTagger
from coalface.structured.tagging.sentences import tag_codes
from coalface.structured.tagging.spans import span_f1
from coalface.structured.tagging.tag_features import TokenRows, word_rows

PASSES = 2
CRF_PASSES = 3
_TABLE_BITS = 26
_ESCAPES = str.maketrans({":": "_c", "|": "_p", " ": "_s"})


@dataclass(frozen=True)
class Comparison:
    """Two taggers on the same words: their scores, and roll-outs per second if both run roll-outs."""

    data: str
    baseline: str
    measure: str
    ours: float
    theirs: float
    our_speed: float = float("nan")
    their_speed: float = float("nan")
    speed_ratio: float = float("nan")


def against_vw(
    name: str, train: list[Sentence], test: list[Sentence], repeats: int, passes: int = PASSES
) -> Comparison:
    """Accuracy and roll-outs per second of the tagger and of VW's search, run alternately."""
    classes = np.unique([tag for sentence in train + test for tag in sentence.tags])
    with TemporaryDirectory() as place:
        folder = Path(place)
        for file, sentences in (("train", train), ("test", test), ("one", train[:1])):
            (folder / f"{file}.vw").write_text(_as_vw(sentences, classes.tolist()))
        args = ["--search", f"{len(classes)}", "--search_task", "sequence", "--search_rollin", "learn"]
        args += ["--search_rollout", "ref", "--search_history_length", "2", "--search_max_bias_ngram_length", "2"]
        args += ["--adax", "-b", f"{_TABLE_BITS}"]
        often = ["--passes", f"{passes}", "--holdout_off"]
        files = ["-d", f"{folder}/train.vw", "--cache_file", f"{folder}/train.cache"]
        run_python(["-m", "vowpalwabbit", *args, *often, *files, "-k", "-f", f"{folder}/model", "--quiet"])
        tested = ["-t", "-i", f"{folder}/model", "-d", f"{folder}/test.vw", "-p", f"{folder}/tags", "--quiet"]
        run_python(["-m", "vowpalwabbit", *tested])
        chosen = np.array([int(tag) - 1 for tag in (folder / "tags").read_text().split()])
        driver = Driver(args, folder / "train.vw", folder / "train.cache", folder / "one.vw", often)
        run = _Timed(train, classes.tolist(), passes)
        run.seconds()  # loads compiled code
        pairs = interleave(run.seconds, driver.seconds, repeats)
    n_rollouts = passes * sum(map(len, train)) * len(classes)
    return Comparison(
        name,
        f"VW search, {passes} passes",
        "accuracy",
        _passive(passes, classes=classes, conjunctions=False).fit(*_split(train)).score(*_split(test)),
        float((chosen == tag_codes([sentence.tags for sentence in test], classes)).mean()),
        n_rollouts / median(seconds.cpu for seconds in pairs.ours),
        n_rollouts / median(seconds.cpu for seconds in pairs.theirs),
        median(pairs.ratios),
    )


def against_crf(
    name: str, train: list[Sentence], test: list[Sentence], *, spans: bool, iterations: int = 100
) -> Comparison:
    """Span F1 or accuracy of the passive tagger and of a CRF."""
    from sklearn_crfsuite import CRF

    crf = CRF("lbfgs", c1=0.1, c2=0.1, max_iterations=iterations, all_possible_transitions=True)
    crf.fit([_features(sentence.words) for sentence in train], [list(sentence.tags) for sentence in train])
    words, tags = _split(test)
    theirs = crf.predict([_features(sentence) for sentence in words])
    tagger = _passive(CRF_PASSES, constraints="bio" if spans else None).fit(*_split(train))
    ours = tagger.predict(words)
    if spans:
        return Comparison(name, "CRF", "span F1", span_f1(tags, ours), span_f1(tags, theirs))
    return Comparison(name, "CRF", "accuracy", _accuracy(tags, ours), _accuracy(tags, theirs))


class _Timed:
    """Learning alone, from prepared rows, as VW learns from its cache."""

    def __init__(self, train: list[Sentence], classes: list[str], passes: int) -> None:
        self.tagger = _passive(passes, classes=classes)
        words, tags = _split(train)
        self.names = np.array(classes)
        lengths = [len(sentence) for sentence in train]
        self.tokens = TokenRows.of(word_rows(words, WINDOW), lengths, self.tagger.history, len(classes))
        self.truth, self.order = tag_codes(tags, self.names), np.tile(np.arange(len(train)), passes)

    def seconds(self) -> Seconds:
        return timed(self._learn)[0]

    def _learn(self) -> None:
        run = self.tagger.start_run(self.names, self.tokens, self.truth, self.order)
        while not run.finished:
            run.play()


def _passive(passes: int, **others: object) -> SequenceTagger:
    return SequenceTagger(policy=CoalClassifier.as_published(rule="passive"), passes=passes, **others)  # type: ignore[arg-type]


def _split(sentences: Sequence[Sentence]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    return [sentence.words for sentence in sentences], [sentence.tags for sentence in sentences]


def _accuracy(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    pairs = [pair for both in zip(truth, predicted, strict=True) for pair in zip(*both, strict=True)]
    return sum(wanted == got for wanted, got in pairs) / len(pairs)


def _features(words: Sequence[str]) -> list[list[str]]:
    """The features of every word as texts, including those of its neighbours."""
    own = [word_features(word) for word in words]
    rows = []
    for place in range(len(words)):
        row = []
        for offset in range(-WINDOW, WINDOW + 1):
            inside = 0 <= place + offset < len(words)
            row += [f"{offset}:{text}" for text in (own[place + offset] if inside else ["outside"])]
        rows.append(row)
    return rows


def _as_vw(sentences: Sequence[Sentence], classes: list[str]) -> str:
    blocks = []
    for sentence in sentences:
        rows = zip(sentence.tags, _features(sentence.words), strict=True)
        lines = [
            f"{classes.index(tag) + 1} | {' '.join(text.translate(_ESCAPES) for text in row)}" for tag, row in rows
        ]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def show(comparisons: list[Comparison]) -> None:
    table = Table(title="The passive tagger against others with the same features, one core")
    for heading in ("data", "against", "measure", "ours", "theirs", "our roll-outs/s", "theirs", "times as fast"):
        table.add_column(heading, justify="left" if heading in ("data", "against", "measure") else "right")
    for found in comparisons:
        speeds = (f"{found.our_speed:,.0f}", f"{found.their_speed:,.0f}", f"{found.speed_ratio:.1f}")
        shown = speeds if found.speed_ratio == found.speed_ratio else ("", "", "")
        table.add_row(found.data, found.baseline, found.measure, f"{found.ours:.4f}", f"{found.theirs:.4f}", *shown)
    console = Console()
    (console if console.is_terminal else Console(width=max(console.width, 140))).print(table)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.tagging", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sentences, one repetition")
    parser.add_argument("--crf", action="store_true", help="also compare with a CRF, which takes minutes")
    options = parser.parse_args(arguments)
    root = os.environ.get("COALFACE_DATA")
    if not root:
        print("benchmarks.tagging needs tagged sentences: set COALFACE_DATA to the folder that has them.")
        return
    use_one_core()

    def read(file: str, tag: int = -1) -> list[Sentence]:
        sentences = read_sentences(Path(root, file), tag=tag)
        return sentences[: len(sentences) // 10] if options.quick else sentences

    penn = [read(f"ptb_sample_pos/{part}.conll.gz") for part in ("train", "test")]
    found = [against_vw("ptb_sample_pos", *penn, repeats=1 if options.quick else 3, passes=n) for n in (1, PASSES)]
    if options.crf:
        names = [read(f"conll2003_ner/{part}.conll.gz") for part in ("train", "test")]
        found.append(against_crf("conll2003", *names, spans=True))
        web = [read(f"ud_english_pos/ewt-{part}.conll.gz", tag=1) for part in ("train", "test")]
        found.append(against_crf("ud_english_pos", *web, spans=False))
    show(found)


if __name__ == "__main__":
    main()
