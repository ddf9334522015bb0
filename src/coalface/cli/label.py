"""``coalface label``: a program or an LLM judge answers, now or in batches."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_values import check_output, numbers_in
from coalface.cli.screen import counted, progress_bar
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.buying.calls import CallBook
    from coalface.buying.oracles.judge import Judge
    from coalface.desk.service.agreements import CheckedJudge
    from coalface.desk.service.desk import Desk
    from coalface.desk.service.messages import DeskProgress


@dataclass(frozen=True)
class Trip:
    """Whose questions go out or come back, and what an LLM judge is told."""

    folder: Path
    name: str
    model: str | None
    prompt: Any
    price_in: float | None
    price_out: float | None
    max_tokens: int

    def form(self, name: str) -> Any:
        """The form of the lines."""
        from coalface.desk.annotators.batches import OwnForm
        from coalface.desk.project.label_history import project_now

        if name == "own":
            return OwnForm()
        if name != "openai":
            raise InputError(f"--batch-form must be own or openai, got {name!r}. Choose one.")
        if self.model is None:
            raise InputError("--batch-form openai needs a model. Pass --annotator openai:MODEL.")
        from coalface.buying.oracles.judge import Prices
        from coalface.desk.annotators.openai_batches import OpenAIForm

        project = project_now(self.folder)
        price_in = project.limits.price_in if self.price_in is None else self.price_in
        price_out = project.limits.price_out if self.price_out is None else self.price_out
        prices = Prices(price_in, price_out)
        return OpenAIForm(project, self.model, self.prompt, prices=prices, max_tokens=self.max_tokens)


@dataclass(frozen=True)
class BatchOptions:
    """Options with which a run asks nothing: forecasts and batches."""

    forecast: Annotated[
        bool, typer.Option("--forecast", help="Forecast what the rest of the pool will take, without asking.")
    ] = False
    batch_out: Annotated[
        Path | None, typer.Option(help="Write the questions worth asking now to this file, and ask nothing.")
    ] = None
    batch_in: Annotated[Path | None, typer.Option(help="Take the answers in this file.")] = None
    batch_form: Annotated[
        str, typer.Option(help="The form of batches: own, or openai for the batch endpoint of openai:MODEL.")
    ] = "own"
    again: Annotated[
        bool, typer.Option("--again", help="With --batch-out: the questions on lease once more, after a lost file.")
    ] = False
    lease: Annotated[float, typer.Option(min=0.01, max=168.0, help="Hours for which a batch is leased.")] = 48.0

    @property
    def given(self) -> bool:
        """Whether one of them is given."""
        return self.forecast or self.batch_out is not None or self.batch_in is not None

    def run(self, trip: Trip, budget: str | None, limit: int | None, *, as_json: bool) -> None:
        """Forecast, then take answers, then write questions."""
        if self.forecast:
            _say_forecast(trip.folder, as_json=as_json)
        form = trip.form(self.batch_form)
        refused = self.batch_in is not None and not _take(trip, self.batch_in, form, as_json=as_json)
        if self.batch_out is not None:
            self._write(trip, self.batch_out, form, budget, limit, as_json=as_json)
        if refused:
            raise typer.Exit(_REFUSED_LINES)

    def _write(
        self, trip: Trip, path: Path, form: Any, budget: str | None, limit: int | None, *, as_json: bool
    ) -> None:
        """Lease questions and write them, or write those on lease once more."""
        from coalface.desk.annotators.batches import lease_batch, write_batch

        check_output(path, "--batch-out")
        with _opened(trip.folder) as desk:
            desk.limit_run(numbers_in("--budget", budget))
            most = {} if limit is None else {"most": limit}
            if self.again:
                questions, why = desk.held(trip.name), ""
            else:
                questions, why = lease_batch(desk, trip.name, self.lease * 3600.0, **most)
            write_batch(desk, questions, path, form)
        costs = sum(1 if question.true_label else len(question.labels) for question in questions)
        if as_json:
            typer.echo(json.dumps({"questions": len(questions), "costs": costs, "stopped": why}))
            return
        said = f"{counted(len(questions), 'question')} about {counted(costs, 'cost')}"
        typer.echo(f"{path}: {said}, leased to {trip.name}.")


def label(
    folder: options.ProjectFolder,
    *,
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
        typer.Option(metavar="[LABEL=]N", help="Maximum concurrent calls, per label or for all labels."),
    ] = None,
    batches: BatchOptions,
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
    agreement: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Hold the answers back while the lower end of the agreement with people (Krippendorff's alpha) is "
            "below this; needs an overlap. It stays set; 0 removes it.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Let a program or an LLM judge answer the questions of a project.

    It stops when nothing is worth asking or the budget is spent.
    The program gets a question as a JSON object with "content", "labels" and "known". It replies with {"costs":
    {label: number, or null for "can't tell"}} or {"label": the true label}, and optionally a "price" and a "note". The
    project's server must not run at the same time.
    Before the first question, and with --forecast, it says how much the rest of the pool will probably take.
    With --batch-out, it leases the questions for --lease hours and writes them to a file. Add "costs" or "label" to
    each line, and give the file to --batch-in. The same line twice counts once; late answers are kept.
    An LLM judge is a model at an OpenAI-compatible endpoint: OPENAI_BASE_URL has its address, OPENAI_API_KEY the key.
    """
    from coalface.buying.oracles.judge import Judge, Patience, model_in
    from coalface.buying.oracles.programs import annotator_of
    from coalface.buying.oracles.prompts import Prompt
    from coalface.buying.oracles.rates import Rates
    from coalface.desk.annotators.labelling import Labelling
    from coalface.desk.annotators.openai_judge import judge_of, shown_prompt
    from coalface.desk.log.ownership import opening
    from coalface.desk.project.label_history import project_now
    from coalface.desk.project.project import Project
    from coalface.desk.service.desk import Desk

    model = None if annotator is None else model_in(annotator)
    if model is None and (show_prompt or any(given is not None for given in (prompt, price_in, price_out))):
        raise InputError(
            "--prompt, --show-prompt, --price-in and --price-out are for --annotator openai:MODEL only. Leave them out."
        )
    template = Prompt() if prompt is None else Prompt.read(prompt)
    if show_prompt:
        typer.echo(shown_prompt(project_now(folder), template))
        return
    if batches.given:
        batches.run(
            Trip(folder, name or "batch", model, template, price_in, price_out, max_tokens),
            budget,
            limit,
            as_json=as_json,
        )
        return
    if annotator is None:
        raise InputError("--annotator must say who answers, such as module:function. Or use --batch-out or --forecast.")
    rates = Rates.parsed(rate or [], concurrent or [], project_now(folder).labels)
    program: Any = annotator_of(annotator, timeout) if model is None else None
    who = name or ("program" if model is None else model.replace(":", "-"))
    desk = Desk(Project.open(folder))
    try:
        desk.limit_run(numbers_in("--budget", budget), priced=bool(price_in or price_out))
        if model is not None or agreement is not None:
            desk.judge(who, agreement)
        if model is not None:
            patience = Patience(retries, backoff)
            program = judge_of(
                desk,
                who,
                model,
                template,
                price_in=price_in,
                price_out=price_out,
                patience=patience,
                timeout=timeout,
                max_tokens=max_tokens,
            )
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
                progress=with_expected(lambda answers: bar(answers, limit), desk, as_json=as_json),
            ).run()
            progress, book = desk.progress(), desk.calls_so_far()
            checked = desk.judged(who)
    finally:
        desk.close()
        if hasattr(program, "close"):
            program.close()
    judge = program if isinstance(program, Judge) else None
    _show_run(folder, who, _Run(done, progress, book, judge, checked), as_json=as_json)


@dataclass(frozen=True)
class _Run:
    """What a run has brought."""

    done: Any
    progress: "DeskProgress"
    book: "CallBook"
    judge: "Judge | None"
    checked: "CheckedJudge | None"


def _show_run(folder: Path, who: str, run: _Run, *, as_json: bool) -> None:
    from coalface.desk.service.agreements import in_words
    from coalface.desk.service.messages import ENDED

    if as_json:
        calls = {} if run.judge is None else {"calls": {**run.book.plain(), **_invalid(run.judge)}}
        typer.echo(
            json.dumps(
                {
                    **vars(run.done),
                    "examples": run.progress.examples,
                    "costs": run.progress.costs,
                    **calls,
                    **_plain(run.checked),
                }
            )
        )
        return
    typer.echo(
        f"{folder}: {counted(run.done.answers, 'answer')} by {who}, {counted(run.done.failures, 'failure')}; "
        f"{counted(run.progress.costs, 'cost')} on {counted(run.progress.examples, 'example')} in all, "
        f"price {run.progress.price:g}. {ENDED[run.done.stopped]}"
    )
    if run.judge is not None:
        _say_calls(run.book, run.judge)
    if run.checked is not None:
        typer.echo(f"Agreement with people: {in_words(run.checked)}.")


def _plain(checked: "CheckedJudge | None") -> dict[str, Any]:
    return {} if checked is None else {"agreement": checked.plain()}


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


_REFUSED_LINES = 1  # exit code if a line of answers was refused


def _take(trip: Trip, path: Path, form: Any, *, as_json: bool) -> bool:
    """Take the answers in a file, and say what is wrong with the lines that are refused; whether none was."""
    from coalface.desk.annotators.batches import take_batch

    with _opened(trip.folder) as desk:
        taken = take_batch(desk, trip.name, path, form)
        progress = desk.progress()
    for problem in taken.problems:
        typer.echo(problem, err=True)
    if as_json:
        typer.echo(json.dumps({**vars(taken), "costs": progress.costs, "examples": progress.examples}))
        return not taken.problems
    typer.echo(
        f"{trip.folder}: {counted(taken.answers, 'answer')} by {trip.name}, {taken.late} late; {taken.before} taken "
        f"before, {taken.unanswered} unanswered, {len(taken.problems)} refused; {counted(progress.costs, 'cost')} on "
        f"{counted(progress.examples, 'example')} in all, price {progress.price:g}."
    )
    return not taken.problems


def _say_forecast(folder: Path, *, as_json: bool) -> None:
    """Print what the rest of the pool will take."""
    with _opened(folder) as desk:
        expected = desk.expected()
    if as_json:
        plain = {} if expected is None else {name: value and vars(value) for name, value in vars(expected).items()}
        typer.echo(json.dumps(plain))
    elif expected is None:
        typer.echo(f"{folder}: the whole pool is decided.")
    else:
        typer.echo(f"{folder}: the rest of the pool will take {expected} (90 % intervals).")


def with_expected(progress: Callable[[int], None], desk: "Desk", *, as_json: bool) -> Callable[[int], None]:
    """Progress of a run that prints the forecast to standard error when the first answer has come.

    A run that fails before that says only why.
    """
    waiting = [] if as_json or (expected := desk.expected()) is None else [expected]

    def show(answers: int) -> None:
        if waiting:
            typer.echo(f"Forecast for the rest of the pool: {waiting.pop()} (90 % intervals).", err=True)
        progress(answers)

    return show


def _opened(folder: Path) -> Any:
    from contextlib import closing

    from coalface.desk.project.project import Project
    from coalface.desk.service.desk import Desk

    return closing(Desk(Project.open(folder)))
