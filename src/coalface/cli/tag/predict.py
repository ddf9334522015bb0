"""``coalface tag predict``."""

import json

import typer

from coalface.cli import options


def predict(model: options.Tagger, data: options.Sentences, word: options.WordColumn = None) -> None:
    """Print the tags of every sentence, as JSON lines.

    FILE needs no column of tags.
    """
    from coalface.data.formats.conll import read_sentences
    from coalface.structured import SequenceTagger

    tagger = SequenceTagger.load(model)
    words = [list(sentence.words) for sentence in read_sentences(data, word=word, tagged=False)]
    for number, (sentence, tags) in enumerate(zip(words, tagger.predict(words), strict=True)):
        typer.echo(json.dumps({"sentence": number, "words": sentence, "tags": tags}, ensure_ascii=False))
