"""``coalface tag train``, ``tag predict`` and ``tag evaluate``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.screen import progress_bar
from coalface.errors import InputError

Words = Annotated[Path, typer.Argument(metavar="FILE", help="A CoNLL file: a word a line, a blank line per sentence.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A tagger made by tag train.")]
WordColumn = Annotated[int | None, typer.Option("--word", help="The column of words, from 0; by default the first.")]
TagColumn = Annotated[int | None, typer.Option("--tag", help="The column of tags; -1, the last, by default.")]


def train(
    data: Words,
    model: Annotated[Path, typer.Option(help="Where the tagger is saved.")],
    go_on: Annotated[bool, typer.Option("--continue", help="Go on from a saved tagger, with its settings.")] = False,
    passes: Annotated[int | None, typer.Option(help="How often to go over the sentences.")] = None,
    window: Annotated[int | None, typer.Option(help="Neighbours of a word that are looked at on each side.")] = None,
    history: Annotated[int | None, typer.Option(help="Predicted tags that are looked back at.")] = None,
    constraints: Annotated[str | None, typer.Option(help="bio or bilou: keep the tags of spans in order.")] = None,
    rule: options.Rule = None,
    mellowness: options.Mellowness = None,
    learning_rate: options.LearningRate = None,
    warm_up: Annotated[int | None, typer.Option(help="Roll out the first sentences in full.")] = None,
    slack: options.Slack = None,
    audit_rate: options.AuditRate = None,
    seed: options.Seed = 0,
    word: WordColumn = None,
    tag: TagColumn = None,
) -> None:
    """Learn to tag words from roll-outs of the tags that can still matter, and save the tagger.

    Settings that are left out are those of SequenceTagger. The tags of the first FILE are all there will be.
    """
    from coalface.cli.files import check_folder_of
    from coalface.data.conll import read_sentences
    from coalface.files import exclusive
    from coalface.search import SequenceTagger

    check_folder_of(model, "--model")
    settings = options.given(
        passes=passes,
        window=window,
        history=history,
        constraints=constraints,
        rule=rule,
        mellowness=mellowness,
        learning_rate=learning_rate,
        warm_up=warm_up,
        slack=slack,
        audit_rate=audit_rate,
        random_state=seed,
    )
    sentences = read_sentences(data, word=word, tag=tag)
    words, tags = [sentence.words for sentence in sentences], [sentence.tags for sentence in sentences]
    with exclusive(model):
        if model.exists() and not go_on:
            raise InputError(f"{model} exists already. Pass --continue to learn more with it, or another --model.")
        tagger = SequenceTagger.load(model) if go_on else SequenceTagger(**settings)
        with progress_bar("Learning") as bar:

            def progress(done: int, total: int, rollouts: int) -> None:
                bar(done, total, f"{rollouts:,} roll-outs")

            learn = tagger.partial_fit if go_on else tagger.fit
            learn(words, tags, progress=progress)
        tagger.save(model)
    n_words = tagger.policy_.round_ - 1
    typer.echo(
        f"{model}: {tagger.sentences_:,} sentences, {n_words:,} words, {len(tagger.classes_)} tags; "
        f"{tagger.rollouts_:,} roll-outs of {n_words * len(tagger.classes_):,}"
    )


def predict(model: Model, data: Words, word: WordColumn = None) -> None:
    """The tags of every sentence, as JSON lines; FILE needs no column of tags."""
    from coalface.data.conll import read_sentences
    from coalface.search import SequenceTagger

    tagger = SequenceTagger.load(model)
    words = [list(sentence.words) for sentence in read_sentences(data, word=word, tagged=False)]
    for number, (sentence, tags) in enumerate(zip(words, tagger.predict(words), strict=True)):
        typer.echo(json.dumps({"sentence": number, "words": sentence, "tags": tags}, ensure_ascii=False))


def evaluate(model: Model, data: Words, word: WordColumn = None, tag: TagColumn = None) -> None:
    """Accuracy and, where the tags mark spans, their F1 on tagged sentences, as one JSON line."""
    from coalface.data.conll import read_sentences
    from coalface.search import SequenceTagger
    from coalface.search.spans import marks_spans

    tagger = SequenceTagger.load(model)
    sentences = read_sentences(data, word=word, tag=tag)
    words, tags = [sentence.words for sentence in sentences], [sentence.tags for sentence in sentences]
    line = {
        "sentences": len(sentences),
        "words": sum(map(len, words)),
        "accuracy": tagger.score(words, tags),
        "rollouts": tagger.rollouts_,
    }
    if marks_spans(tagger.classes_.tolist()):
        line["span_f1"] = tagger.span_f1(words, tags)
    typer.echo(json.dumps(line))
