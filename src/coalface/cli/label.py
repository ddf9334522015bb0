"""``coalface label``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.label_batches import Batch, form_of_batch, say_expected, say_forecast
from coalface.cli.option_values import numbers_in
from coalface.cli.screen import counted, progress_bar
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.service.annotators.judge import Judge
    from coalface.service.desk.call_book import CallBook


def label(
    folder: options.ProjectFolder,
    annotator: Annotated[
        str | None,
        typer.Option(
            help="openai:MODEL (an LLM judge), http://... (POST, JSON), module:function, or a command that speaks JSON "
            "lines."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="The name of the annotator in the answers; by default program, the model, or batch."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Questions to ask at the same time.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds to wait for one reply.")] = 60.0,
    retries: Annotated[int, typer.Option(min=0, help="Further attempts, each after twice the pause.")] = 3,
    backoff: Annotated[float, typer.Option(min=0.0, help="Seconds before the second attempt.")] = 1.0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many answers, or questions of a batch.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NUMBER,...",
            help="The most examples, costs or price of this run, such as costs=500,price=2; that of the project holds, "
            "too.",
        ),
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(metavar="[LABEL=]N/min", help="The most calls about a label, or about each: 60/min, 5/s, 900/h."),
    ] = None,
    concurrent: Annotated[
        list[str] | None,
        typer.Option(metavar="[LABEL=]N", help="The most calls about a label, or about each, at the same time."),
    ] = None,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Say what the rest of the pool will take, and ask nothing.")
    ] = False,
    batch_out: Annotated[
        Path | None, typer.Option(help="Write the questions worth asking now to this file, and ask nothing.")
    ] = None,
    batch_in: Annotated[Path | None, typer.Option(help="Take the answers in this file.")] = None,
    batch_form: Annotated[
        str, typer.Option(help="The form of batches: own, or openai for the batch endpoint of openai:MODEL.")
    ] = "own",
    again: Annotated[
        bool, typer.Option("--again", help="With --batch-out: the questions on lease once more, after a lost file.")
    ] = False,
    lease: Annotated[float, typer.Option(min=0.01, max=168.0, help="Hours for which a batch is leased.")] = 48.0,
    prompt: Annotated[
        Path | None,
        typer.Option(help="LLM judge: a file with {labels} and {example}; optional {question}, {guidelines}, {scale}."),
    ] = None,
    show_prompt: Annotated[
        bool, typer.Option("--show-prompt", help="LLM judge: print the messages about one example, and call nothing.")
    ] = False,
    price_in: Annotated[
        float | None, typer.Option(min=0.0, help="LLM judge: price of a million tokens read; default price_in.")
    ] = None,
    price_out: Annotated[
        float | None, typer.Option(min=0.0, help="LLM judge: price of a million tokens written; default price_out.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="LLM judge: the most tokens written in a reply.")] = 2000,
    as_json: options.Json = False,
) -> None:
    """Let a program or an LLM judge answer the questions of a project.

    It stops when nothing is worth asking or the budget is spent.
    The program gets a question as a JSON object with "content", "labels" and "known". It replies with {"costs":
    {label: number, or null for "can't tell"}} or {"label": the true label}, and optionally a "price" and a "note". The
    project's server must not run at the same time.
    Before the first question, and with --forecast, it says how much the rest of the pool will probably take.
    With --batch-out, it leases the questions for --lease hours and writes them to a file. Add "costs" or "label" to each
    line, and give the file to --batch-in. The same line twice counts once; late answers are kept.
    An LLM judge is a model at an OpenAI-compatible endpoint: OPENAI_BASE_URL has its address, OPENAI_API_KEY the key.
    """
    from coalface.service.annotators.judge import Judge, Patience, model_in
    from coalface.service.annotators.labelling import Labelling
    from coalface.service.annotators.openai_judge import judge_of, shown_prompt
    from coalface.service.annotators.programs import annotator_of
    from coalface.service.annotators.prompts import Prompt
    from coalface.service.annotators.rates import Rates
    from coalface.service.desk.desk import Desk
    from coalface.service.desk.messages import ENDED
    from coalface.service.project.ownership import opening
    from coalface.service.project.project import Project

    model = None if annotator is None else model_in(annotator)
    template = Prompt() if prompt is None else Prompt.read(prompt)
    if show_prompt:
        typer.echo(shown_prompt(Project.open(folder), template))
        return
    if forecast:
        say_forecast(folder, as_json=as_json)
        return
    if batch_out is not None or batch_in is not None:
        form = form_of_batch(folder, batch_form, model, template, price_in, price_out, max_tokens)
        trip = Batch(folder=folder, name=name or "batch", form=form, as_json=as_json)
        if batch_in is not None:
            trip.take(batch_in)
        if batch_out is not None:
            trip.write(batch_out, budget, limit, lease * 3600.0, again=again)
        return
    if annotator is None:
        raise InputError("--annotator must say who answers, such as module:function. Or use --batch-out or --forecast.")
    rates = Rates.parsed(rate or [], concurrent or [], Project.open(folder).labels)
    program: Any = annotator_of(annotator, timeout) if model is None else None
    who = name or ("program" if model is None else model.replace(":", "-"))
    desk = Desk(Project.open(folder))
    try:
        if budget is not None:
            desk.limit_run(numbers_in("--budget", budget))
        say_expected(desk, as_json=as_json)
        if model is not None:
            patience = Patience(retries, backoff)
            prices = {"price_in": price_in, "price_out": price_out}
            more = {"patience": patience, "timeout": timeout, "max_tokens": max_tokens}
            program = judge_of(desk, who, model, template, **prices, **more)
            retries, timeout = 0, patience.longest(timeout)  # the judge tries again itself
        with opening(desk.project.address), progress_bar("Answers") as bar:
            done = Labelling(
                desk,
                program,
                who,
                workers=workers,
                retries=retries,
                backoff=backoff,
                timeout=timeout,
                limit=limit,
                rates=rates,
                progress=lambda answers: bar(answers, limit),
            ).run()
            progress, book = desk.progress(), desk.state.counters.calls
    finally:
        desk.close()
        if hasattr(program, "close"):
            program.close()
    judge = program if isinstance(program, Judge) else None
    if as_json:
        calls = {} if judge is None else {"calls": {**book.plain(), **_invalid(judge)}}
        typer.echo(json.dumps({**vars(done), "examples": progress.examples, "costs": progress.costs, **calls}))
        return
    typer.echo(
        f"{folder}: {counted(done.answers, 'answer')} by {who}, {counted(done.failures, 'failure')}; "
        f"{counted(progress.costs, 'cost')} on {counted(progress.examples, 'example')} in all, "
        f"price {progress.price:g}. {ENDED[done.stopped]}"
    )
    if judge is not None:
        _say_calls(book, judge)


def _invalid(judge: "Judge") -> dict[str, int]:
    return {"invalid": judge.invalid, "refusals": judge.refusals}


def _say_calls(book: "CallBook", judge: "Judge") -> None:
    """What the calls of all runs took, and the invalid replies of this one."""
    typer.echo(
        f"Calls: {book.replies:,} paid, {book.tokens_in:,} tokens read and {book.tokens_out:,} written, price "
        f"{book.price:.6g} in all runs. In this run, {judge.invalid:,} invalid and {judge.refusals:,} refused."
    )
    if book.possibly_paid:
        typer.echo(
            f"Possibly paid as well: {counted(book.possibly_paid, 'call')} without a reply on record, at most "
            f"{book.at_risk:g}."
        )
