"""The verbs of ``coalface parse``."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.learner_options import PARSER, LearnerSettings
from coalface.cli.option_groups import TrainingOptions
from coalface.cli.option_values import given
from coalface.cli.screen import counted, progress_bar

if TYPE_CHECKING:
    from coalface.structured import DependencyParser


def train(
    data: options.Trees,
    *,
    training: TrainingOptions,
    system: Annotated[str | None, typer.Option(help="The transition system: arc-hybrid or arc-eager.")] = None,
    subtypes: Annotated[
        bool, typer.Option("--subtypes", help="Learn whole labels, such as nsubj:pass; otherwise nsubj.")
    ] = False,
    policy: Annotated[LearnerSettings, PARSER],
    as_json: options.Json = False,
) -> None:
    """Learn to parse sentences, and save the parser.

    The parser asks for the costs only of actions that can still matter.
    Labels are those of the first FILE. With --continue, only --passes can change.
    The first run on a machine compiles for about a minute.
    """
    from coalface.data import read_trees
    from coalface.structured import DependencyParser

    settings = given(system=system, warm_up=training.warm_up)
    with training.saving([*settings, *policy.names, *(["subtypes"] if subtypes else [])]):
        parser = DependencyParser.load(training.model) if training.more else _new_parser(settings, policy)
        parser.set_params(**given(passes=training.passes))
        trees = read_trees(data, subtypes=parser.has_subtypes_ if training.more else subtypes)
        before = parser.costs_paid_
        learning = f"Learning sentences in {counted(parser.passes, 'pass')}"
        with progress_bar(f"{learning} (the first run compiles for about a minute)") as bar:
            parser.learn(
                trees, lambda done, total, costs: bar(done, total, f"{learning}, {counted(costs, 'cost')} paid")
            )
        parser.save(training.model)
    n_words, n_labels = sum(map(len, trees)), len(parser.labels_) + len(parser.root_labels_)
    line = {
        "model": str(training.model),
        "sentences": len(trees),
        "words": n_words,
        "labels": n_labels,
        "passes": parser.passes,
        "costs": parser.costs_paid_ - before,
        "costs_in_all": parser.costs_paid_,
    }
    sizes = {"sentence": len(trees), "word": n_words, "label": n_labels, "pass": parser.passes}
    size = ", ".join(counted(n, noun) for noun, n in sizes.items())
    typer.echo(
        json.dumps(line)
        if as_json
        else f"{training.model}: {size}; {counted(parser.costs_paid_ - before, 'cost')} paid"
    )


def _new_parser(settings: dict[str, Any], policy: LearnerSettings) -> "DependencyParser":
    """A parser with these settings of its policy."""
    from coalface.structured import DependencyParser
    from coalface.structured.policies import parser_policy

    seed = given(random_state=policy.given.get("random_state"))  # of the order of sentences, too
    return DependencyParser(policy=parser_policy(**policy.nested()), **settings, **seed)


def predict(model: options.Parser, data: options.Trees) -> None:
    """Print the sentences of FILE with predicted heads and labels, as CoNLL-U.

    The words of FILE must have tags. Its own heads and labels, if any, are not used.
    """
    from coalface.data import lines_with_heads, read_trees
    from coalface.structured import DependencyParser

    parser = DependencyParser.load(model)
    predicted = parser.predict(read_trees(data, heads=False))
    for line in lines_with_heads(data, predicted):
        typer.echo(line)


def evaluate(model: options.Parser, data: options.Trees) -> None:
    """Print the attachment scores on trees with heads, as one JSON line.

    uas is the share of words with the right head, las that with the right head and label.
    """
    from coalface.data import read_trees
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
