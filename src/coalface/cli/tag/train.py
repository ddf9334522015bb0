"""``coalface tag train``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_values import check_nothing_given, check_output, given, names_in
from coalface.cli.screen import counted, progress_bar
from coalface.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from coalface.data.formats.conll import Sentence
    from coalface.search import SequenceTagger


def train(
    data: options.Sentences,
    model: Annotated[Path, typer.Option(help="The file to save the tagger in.")],
    resume: Annotated[
        bool, typer.Option("--continue", help="Learn more with a saved tagger, with its settings.")
    ] = False,
    passes: Annotated[int | None, typer.Option(help="The number of passes over the sentences.")] = None,
    window: Annotated[
        int | None, typer.Option(help="The neighbours on each side of a word to use as features.")
    ] = None,
    history: Annotated[int | None, typer.Option(help="The earlier predicted tags to use as features.")] = None,
    constraints: Annotated[
        str | None, typer.Option(help="bio or bilou: predict only legal sequences of span tags.")
    ] = None,
    classes: Annotated[str | None, typer.Option(help="All tags, such as O,B-PER,I-PER.")] = None,
    cost_matrix: Annotated[
        Path | None,
        typer.Option(
            help="Costs from 0 to 1 by true tag (row) and prediction (column), .npy or .csv. A .csv may have "
            "names in its first line and column; without names, the order is that of --classes, or alphabetical."
        ),
    ] = None,
    rule: options.Rule = None,
    mellowness: options.Mellowness = None,
    learning_rate: options.LearningRate = None,
    warm_up: Annotated[int | None, typer.Option(help="Roll out all tags in this many sentences first.")] = None,
    slack: options.Slack = None,
    audit_rate: options.AuditRate = None,
    seed: options.SeedIfGiven = None,
    word: options.WordColumn = None,
    tag: options.TagColumn = None,
    as_json: options.Json = False,
) -> None:
    """Learn to tag words, and save the tagger.

    The tagger asks for roll-outs only of tags that can still matter.
    Without --classes, the tags of the first FILE are all the tags there can be.
    With --continue, only --passes can change.
    """
    from coalface.data.formats.conll import read_sentences
    from coalface.files.atomic import exclusive
    from coalface.search import SequenceTagger

    check_output(model, "--model")
    settings = given(
        window=window,
        history=history,
        constraints=constraints,
        classes=None if classes is None else names_in("--classes", classes),
        cost_matrix=cost_matrix,
        rule=rule,
        mellowness=mellowness,
        learning_rate=learning_rate,
        warm_up=warm_up,
        slack=slack,
        audit_rate=audit_rate,
        random_state=seed,
    )
    if resume:
        check_nothing_given(settings)
    sentences = read_sentences(data, word=word, tag=tag)
    with exclusive(model):
        if model.exists() and not resume:
            raise InputError(f"{model} exists already. Pass --continue to learn more with it, or another --model.")
        tagger = SequenceTagger.load(model) if resume else SequenceTagger(**_with_costs(settings, sentences))
        tagger.set_params(**given(passes=passes))
        n_before = tagger.rollouts_
        _learn(tagger, data, sentences)
        tagger.save(model)
    n_words, n_tags, n_passes = sum(map(len, sentences)), len(tagger.classes_), tagger.passes
    line = {
        "model": str(model),
        "sentences": len(sentences),
        "words": n_words,
        "tags": n_tags,
        "passes": n_passes,
        "rollouts": tagger.rollouts_ - n_before,
        "rollouts_in_all": tagger.rollouts_,
    }
    sizes = {"sentence": len(sentences), "word": n_words, "tag": n_tags, "pass": n_passes}
    size = ", ".join(counted(n, noun) for noun, n in sizes.items())
    asked = f"{counted(tagger.rollouts_ - n_before, 'roll-out')} of {n_passes * n_words * n_tags:,}"
    typer.echo(json.dumps(line) if as_json else f"{model}: {size}; {asked}")


def _with_costs(settings: dict[str, Any], sentences: "list[Sentence]") -> dict[str, Any]:
    """The settings with the costs in the file of ``--cost-matrix``."""
    if "cost_matrix" not in settings:
        return settings
    from coalface.data.formats.cost_matrix import read_cost_matrix
    from coalface.data.labels import label_array

    in_data = sorted({tag for sentence in sentences for tag in sentence.tags})
    names = label_array(settings.get("classes", in_data))
    return {**settings, "classes": names, "cost_matrix": read_cost_matrix(settings["cost_matrix"], names)}


def _learn(tagger: "SequenceTagger", data: Path, sentences: "list[Sentence]") -> None:
    """Learn the sentences in all passes; an error names the line of an illegal tag."""
    from coalface.data.numbers import whole_number
    from coalface.search.tagging.sentences import TagError

    words, tags = [sentence.words for sentence in sentences], [sentence.tags for sentence in sentences]
    passes, n_words = whole_number("passes", tagger.passes, least=1), sum(map(len, sentences))
    with progress_bar("Learning") as bar:
        for number in range(passes):

            def progress(done: int, _total: int, rollouts: int, before: int = number * n_words) -> None:
                bar(before + done, passes * n_words, f"{rollouts:,} roll-outs")

            try:
                tagger.partial_fit(words, tags, progress=progress)
            except TagError as problem:
                line = sentences[problem.sentence].lines[problem.word]
                raise FileFormatError(f"{data}, line {line}: {problem.problem}") from None
