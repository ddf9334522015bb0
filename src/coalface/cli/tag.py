"""``coalface tag train``, ``tag predict`` and ``tag evaluate``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.reading import listed
from coalface.cli.screen import progress_bar
from coalface.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from coalface.data.formats.conll import Sentence
    from coalface.search import SequenceTagger

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
    classes: Annotated[str | None, typer.Option(help="All tags there will be, such as O,B-PER,I-PER.")] = None,
    cost_matrix: Annotated[
        Path | None,
        typer.Option(
            help="What mistakes cost, 0 to 1, by true tag (row) and prediction (column), .npy or .csv. A .csv may have "
            "names in its first line and column; without, the order is that of --classes, or else alphabetical."
        ),
    ] = None,
    rule: options.Rule = None,
    mellowness: options.Mellowness = None,
    learning_rate: options.LearningRate = None,
    warm_up: Annotated[int | None, typer.Option(help="Roll out the first sentences in full.")] = None,
    slack: options.Slack = None,
    audit_rate: options.AuditRate = None,
    seed: options.SeedIfGiven = None,
    word: WordColumn = None,
    tag: TagColumn = None,
    as_json: options.Json = False,
) -> None:
    """Learn to tag words from roll-outs of the tags that can still matter, and save the tagger.

    Without --classes, the tags of the first FILE are all there will be.
    With --continue only --passes can be given anew.
    """
    from coalface.cli.files import check_folder_of
    from coalface.data.formats.conll import read_sentences
    from coalface.files.locks import exclusive
    from coalface.search import SequenceTagger
    from coalface.studies.report.number_format import counted

    check_folder_of(model, "--model")
    settings = options.given(
        window=window,
        history=history,
        constraints=constraints,
        classes=None if classes is None else listed("--classes", classes),
        cost_matrix=cost_matrix,
        rule=rule,
        mellowness=mellowness,
        learning_rate=learning_rate,
        warm_up=warm_up,
        slack=slack,
        audit_rate=audit_rate,
        random_state=seed,
    )
    if go_on:
        options.check_nothing_given(settings)
    sentences = read_sentences(data, word=word, tag=tag)
    with exclusive(model):
        if model.exists() and not go_on:
            raise InputError(f"{model} exists already. Pass --continue to learn more with it, or another --model.")
        tagger = SequenceTagger.load(model) if go_on else SequenceTagger(**_with_costs(settings, sentences))
        tagger.set_params(**options.given(passes=passes))
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
    said = ", ".join(counted(n, what) for n, what in ((len(sentences), "sentence"), (n_words, "word"), (n_tags, "tag")))
    said += ", 1 pass" if n_passes == 1 else f", {n_passes:,} passes"
    asked = f"{counted(tagger.rollouts_ - n_before, 'roll-out')} of {n_passes * n_words * n_tags:,}"
    typer.echo(json.dumps(line) if as_json else f"{model}: {said}; {asked}")


def _with_costs(settings: dict[str, Any], sentences: "list[Sentence]") -> dict[str, Any]:
    """The settings with the costs that the file of ``--cost-matrix`` holds."""
    if "cost_matrix" not in settings:
        return settings
    from coalface.data.formats.cost_matrix import read_cost_matrix
    from coalface.data.labels import label_array

    in_data = sorted({tag for sentence in sentences for tag in sentence.tags})
    names = label_array(settings.get("classes", in_data))
    return {**settings, "classes": names, "cost_matrix": read_cost_matrix(settings["cost_matrix"], names)}


def _learn(tagger: "SequenceTagger", data: Path, sentences: "list[Sentence]") -> None:
    """Learn the sentences as often as the tagger says; a tag that cannot be is named with its line."""
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


def predict(model: Model, data: Words, word: WordColumn = None) -> None:
    """The tags of every sentence, as JSON lines; FILE needs no column of tags."""
    from coalface.data.formats.conll import read_sentences
    from coalface.search import SequenceTagger

    tagger = SequenceTagger.load(model)
    words = [list(sentence.words) for sentence in read_sentences(data, word=word, tagged=False)]
    for number, (sentence, tags) in enumerate(zip(words, tagger.predict(words), strict=True)):
        typer.echo(json.dumps({"sentence": number, "words": sentence, "tags": tags}, ensure_ascii=False))


def evaluate(model: Model, data: Words, word: WordColumn = None, tag: TagColumn = None) -> None:
    """Accuracy and, where the tags mark spans, their F1 on tagged sentences, as one JSON line."""
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
