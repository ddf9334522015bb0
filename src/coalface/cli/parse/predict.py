"""``coalface parse predict``."""

import typer

from coalface.cli import options


def predict(model: options.Parser, data: options.Trees) -> None:
    """Print the sentences of FILE with predicted heads and labels, as CoNLL-U.

    The words of FILE must have tags. Its own heads and labels, if any, are not used.
    """
    from coalface.data.formats.conllu import lines_with_heads, read_trees
    from coalface.structured import DependencyParser

    parser = DependencyParser.load(model)
    predicted = parser.predict(read_trees(data, heads=False))
    for line in lines_with_heads(data, predicted):
        typer.echo(line)
