"""The verbs of ``coalface tag``."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.learner_options import TAGGER, LearnerSettings
from coalface.cli.option_groups import TrainingOptions
from coalface.cli.option_values import given, names_in
from coalface.cli.screen import counted, progress_bar
from coalface.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from coalface.data import Sentence
    from coalface.structured import SequenceTagger
    from coalface.structured.tagging.sentences import TagError


def train(
    data: options.Sentences,
    *,
    training: TrainingOptions,
    window: Annotated[
        int | None, typer.Option(help="The neighbours on each side of a word to use as features.")
    ] = None,
    history: Annotated[int | None, typer.Option(help="The earlier predicted tags to use as features.")] = None,
    constraints: Annotated[
        str | None, typer.Option(help="bio or bilou: predict only legal sequences of span tags.")
    ] = None,
    classes: Annotated[str | None, typer.Option(help="All tags, such as O,B-PER,I-PER.")] = None,
    cost_matrix: options.CostMatrix = None,
    policy: Annotated[LearnerSettings, TAGGER],
    budget: Annotated[
        int | None, typer.Option(help="The most roll-outs of this training, spread over its words.", min=0)
    ] = None,
    repair: options.Repair = False,
    word: options.WordColumn = None,
    tag: options.TagColumn = None,
    as_json: options.Json = False,
) -> None:
    """Learn to tag words, and save the tagger.

    The tagger asks for roll-outs only of tags that can still matter.
    Without --classes, the tags of the first FILE are all the tags there can be.
    With --continue, only --passes can change; --repair makes tags legal for the saved constraints.
    """
    from coalface.data import read_sentences
    from coalface.structured import SequenceTagger

    settings = given(
        window=window,
        history=history,
        constraints=constraints,
        classes=None if classes is None else names_in("--classes", classes),
        cost_matrix=cost_matrix,
        warm_up=training.warm_up,
        budget=budget,
    )
    with training.saving([*settings, *policy.names]):
        sentences = read_sentences(data, word=word, tag=tag)
        saved = SequenceTagger.load(training.model) if training.more else None
        scheme = constraints if saved is None else saved.constraints
        n_repaired = 0
        if repair:
            sentences, n_repaired = _repaired_sentences(sentences, scheme, training.model if training.more else None)
        tagger = _new_tagger(settings, policy, sentences) if saved is None else saved
        tagger.set_params(**given(passes=training.passes))
        if budget is not None:
            over = tagger.passes * sum(map(len, sentences))
            tagger.set_params(budget={"costs": budget, "over": max(over, 1)})
        n_before = tagger.rollouts_
        _learn(tagger, data, sentences)
        tagger.save(training.model)
    n_words, n_tags, n_passes = sum(map(len, sentences)), len(tagger.classes_), tagger.passes
    line = {
        "model": str(training.model),
        "sentences": len(sentences),
        "words": n_words,
        "tags": n_tags,
        "passes": n_passes,
        "rollouts": tagger.rollouts_ - n_before,
        "rollouts_in_all": tagger.rollouts_,
        "rollouts_of_passive": _passive_rollouts(n_words, n_tags),
    }
    if repair:
        line["tags_repaired"] = n_repaired
    sizes = {"sentence": len(sentences), "word": n_words, "tag": n_tags, "pass": n_passes}
    size = ", ".join(counted(n, noun) for noun, n in sizes.items())
    asked = f"{counted(tagger.rollouts_ - n_before, 'roll-out')}; passive runs {_passive_rollouts(n_words, n_tags):,}"
    mended = f"; {counted(n_repaired, 'tag')} repaired" if repair else ""
    typer.echo(json.dumps(line) if as_json else f"{training.model}: {size}; {asked}{mended}")


def _passive_rollouts(n_words: int, n_tags: int) -> int:
    """The roll-outs of all tags of all words; what a tag costs is the same in every pass, so it is run once."""
    return n_words * n_tags if n_tags > 1 else 0


def _new_tagger(settings: dict[str, Any], policy: LearnerSettings, sentences: "list[Sentence]") -> "SequenceTagger":
    """A tagger with the costs in the file of ``--cost-matrix``, and with these settings of its policy."""
    from coalface.data import label_array, read_cost_matrix
    from coalface.structured import SequenceTagger
    from coalface.structured.policies import tagger_policy

    in_data = sorted({tag for sentence in sentences for tag in sentence.tags})
    names = settings.get("classes", in_data)
    if "cost_matrix" in settings:
        costs = read_cost_matrix(settings["cost_matrix"], label_array(names))
        settings = {**settings, "classes": names, "cost_matrix": costs}
    return SequenceTagger(policy=tagger_policy(names, **policy.nested()), **settings)


def _learn(tagger: "SequenceTagger", data: Path, sentences: "list[Sentence]") -> None:
    """Learn the sentences in all passes; an error names the line of an illegal tag."""
    from coalface.data import whole_number
    from coalface.structured.tagging.sentences import TagError

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
                advice = _repair_advice(problem, sentences[problem.sentence], tagger.constraints)
                raise FileFormatError(f"{data}, line {line}: {problem.problem}{advice}") from None


def predict(model: options.Tagger, data: options.Sentences, word: options.WordColumn = None) -> None:
    """Print the tags of every sentence, as JSON lines.

    FILE needs no column of tags.
    """
    from coalface.data import read_sentences
    from coalface.structured import SequenceTagger

    tagger = SequenceTagger.load(model)
    words = [list(sentence.words) for sentence in read_sentences(data, word=word, tagged=False)]
    for number, (sentence, tags) in enumerate(zip(words, tagger.predict(words), strict=True)):
        typer.echo(json.dumps({"sentence": number, "words": sentence, "tags": tags}, ensure_ascii=False))


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
    from coalface.data import read_sentences
    from coalface.structured import SequenceTagger
    from coalface.structured.tagging.spans import marks_spans

    tagger = SequenceTagger.load(model)
    sentences = read_sentences(data, word=word, tag=tag)
    n_repaired = 0
    if repair:
        sentences, n_repaired = _repaired_sentences(sentences, tagger.constraints, model)
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


def _repaired_sentences(
    sentences: "list[Sentence]", scheme: str | None, saved: Path | None
) -> "tuple[list[Sentence], int]":
    """The sentences with legal tags, and how many tags had to change; the scheme may be that of a ``saved`` tagger."""
    from coalface.structured.tagging.spans import repaired
    from coalface.structured.tagging.tag_rules import check_scheme

    check_scheme(scheme)
    if scheme is None and saved is not None:
        raise InputError(
            f"--repair needs a tagger with constraints, which say what is legal; {saved} has none. Leave it out."
        )
    if scheme is None:
        raise InputError("--repair needs --constraints bio or bilou, which say what is legal. Add it.")
    found = [replace(one, tags=tuple(repaired(one.tags, scheme))) for one in sentences]
    pairs = (
        (old, new)
        for one, mended in zip(sentences, found, strict=True)
        for old, new in zip(one.tags, mended.tags, strict=True)
    )
    return found, sum(old != new for old, new in pairs)


def _repair_advice(problem: "TagError", sentence: "Sentence", scheme: str | None) -> str:
    """The end of an error about a tag: names ``--repair`` where that helps."""
    from coalface.structured.tagging.sentences import UnknownTagError
    from coalface.structured.tagging.spans import repaired

    if scheme is None:
        return ""
    is_legal = repaired(sentence.tags, scheme)[problem.word] == sentence.tags[problem.word]
    if isinstance(problem, UnknownTagError) and is_legal:
        return ""
    return " Or pass --repair to make the tags legal."
