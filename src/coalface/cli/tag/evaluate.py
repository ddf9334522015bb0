"""``coalface tag evaluate``."""

import json

import typer

from coalface.cli import options
from coalface.cli.tag.repair import repaired_sentences


def evaluate(
    model: options.Tagger,
    data: options.Sentences,
    word: options.WordColumn = None,
    tag: options.TagColumn = None,
    repair: options.Repair = False,
) -> None:
    """Print the accuracy on tagged sentences, as one JSON line.

    If the tags mark spans, it has the F1 of the spans, too.
    --repair makes the tags of FILE legal for the constraints of MODEL.
    """
    from coalface.data.formats.conll import read_sentences
    from coalface.structured import SequenceTagger
    from coalface.structured.tagging.spans import marks_spans

    tagger = SequenceTagger.load(model)
    sentences = read_sentences(data, word=word, tag=tag)
    n_repaired = 0
    if repair:
        sentences, n_repaired = repaired_sentences(sentences, tagger.constraints, model)
    words, tags = [sentence.words for sentence in sentences], [sentence.tags for sentence in sentences]
    line = {
        "sentences": len(sentences),
        "words": sum(map(len, words)),
        "accuracy": tagger.score(words, tags),
        "rollouts_in_training": tagger.rollouts_,
    }
    if marks_spans(tagger.classes_.tolist()):
        line["span_f1"] = tagger.span_f1(words, tags)
    if repair:
        line["tags_repaired"] = n_repaired
    typer.echo(json.dumps(line))
