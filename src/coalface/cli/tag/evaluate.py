"""``coalface tag evaluate``."""

import json

import typer

from coalface.cli import options


def evaluate(
    model: options.Tagger,
    data: options.Sentences,
    word: options.WordColumn = None,
    tag: options.TagColumn = None,
) -> None:
    """Print the accuracy on tagged sentences, as one JSON line.

    If the tags mark spans, it has the F1 of the spans, too.
    """
    from coalface.data.formats.conll import read_sentences
    from coalface.search import SequenceTagger
    from coalface.search.tagging.spans import marks_spans

    tagger = SequenceTagger.load(model)
    sentences = read_sentences(data, word=word, tag=tag)
    words, tags = [sentence.words for sentence in sentences], [sentence.tags for sentence in sentences]
    line = {
        "sentences": len(sentences),
        "words": sum(map(len, words)),
        "accuracy": tagger.score(words, tags),
        "rollouts_in_training": tagger.rollouts_,
    }
    if marks_spans(tagger.classes_.tolist()):
        line["span_f1"] = tagger.span_f1(words, tags)
    typer.echo(json.dumps(line))
