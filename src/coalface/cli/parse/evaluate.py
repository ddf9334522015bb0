"""``coalface parse evaluate``."""

import json

import typer

from coalface.cli import options


def evaluate(model: options.Parser, data: options.Trees) -> None:
    """Print the attachment scores on trees with heads, as one JSON line.

    uas is the share of words with the right head, las that with the right head and label.
    """
    from coalface.data.formats.conllu import read_trees
    from coalface.structured import DependencyParser
    from coalface.structured.parsing.scores import attachment_scores

    parser = DependencyParser.load(model)
    trees = read_trees(data, subtypes=parser.has_subtypes_)
    predicted = parser.predict(trees)
    uas, las = attachment_scores(trees, predicted)
    line = {"sentences": len(trees), "words": sum(map(len, trees)), "uas": uas, "las": las}
    if any(tag != "PUNCT" for tree in trees for tag in tree.tags):
        without = attachment_scores(trees, predicted, punctuation=False)
        line |= {"uas_without_punctuation": without.unlabelled, "las_without_punctuation": without.labelled}
    typer.echo(json.dumps({**line, "costs_in_training": parser.costs_paid_}))
