"""``coalface label``: a program or an LLM judge answers, now or in batches."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.label_batches import BatchOptions, opened
from coalface.cli.option_groups import OptionGroup
from coalface.cli.option_values import numbers_in
from coalface.cli.screen import counted, progress_bar, show
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.buying import CallBook, Judge, Prompt
    from coalface.cli.label_batches import BatchForm
    from coalface.desk.project.project import Project
    from coalface.desk.service.agreements import CheckedJudge
    from coalface.desk.service.desk import Desk
    from coalface.desk.service.messages import DeskProgress


@dataclass(frozen=True)
class _CallOptions(OptionGroup):
    """How many questions are asked at once, and what happens without a reply."""

    workers: Annotated[int, typer.Option(min=1, help="Questions to ask at the same time.")] = 1
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds to wait for one reply.")] = 60.0
    retries: Annotated[int, typer.Option(min=0, help="Further attempts, each after twice the pause.")] = 3
    backoff: Annotated[float, typer.Option(min=0.0, help="Seconds before the second attempt.")] = 1.0


@dataclass(frozen=True)
class _RateOptions(OptionGroup):
    """How many calls about a label there may be, in a time and at the same time."""

    rate: Annotated[
        list[str] | None,
        typer.Option(metavar="[LABEL=]N/min", help="The most calls about a label, or about each: 60/min, 5/s, 900/h."),
    ] = None
    concurrent: Annotated[
        list[str] | None,
        typer.Option(metavar="[LABEL=]N", help="The most calls at the same time, about a label or about each."),
    ] = None


@dataclass(frozen=True)
class _JudgeOptions(OptionGroup):
    """What an LLM judge is told, how much it may write, and what its tokens cost."""

    prompt: Annotated[
        Path | None,
        typer.Option(help="LLM judge: a file with {labels} and {example}; optional {question}, {guidelines}, {scale}."),
    ] = None
    show_prompt: Annotated[
        bool, typer.Option("--show-prompt", help="LLM judge: print the messages about one example, and call nothing.")
    ] = False
    price_in: Annotated[
        float | None, typer.Option(min=0.0, help="LLM judge: price of a million tokens read; default price_in.")
    ] = None
    price_out: Annotated[
        float | None, typer.Option(min=0.0, help="LLM judge: price of a million tokens written; default price_out.")
    ] = None
    max_tokens: Annotated[int, typer.Option(min=1, help="LLM judge: the most tokens written in a reply.")] = 2000

    def check(self, model: str | None) -> None:
        """Refuse options of a judge for another annotator."""
        given = self.show_prompt or any(one is not None for one in (self.prompt, self.price_in, self.price_out))
        if model is None and given:
            raise InputError(
                "--prompt, --show-prompt, --price-in and --price-out are for --annotator openai:MODEL only. Leave them "
                "out."
            )

    def template(self) -> "Prompt":
        """The prompt of the file, or the usual one."""
        from coalface.buying import Prompt

        return Prompt() if self.prompt is None else Prompt.read(self.prompt)

    def batch_form(self, name: str, project: "Project", model: str | None) -> "BatchForm":
        """The form of the lines of a batch."""
        from coalface.buying import Prices
        from coalface.desk.annotators.batches import OwnForm
        from coalface.desk.annotators.openai import OpenAIForm

        if name == "own":
            return OwnForm()
        if name != "openai":
            raise InputError(f"--batch-form must be own or openai, got {name!r}. Choose one.")
        if model is None:
            raise InputError("--batch-form openai needs a model. Pass --annotator openai:MODEL.")
        price_in = project.limits.price_in if self.price_in is None else self.price_in
        price_out = project.limits.price_out if self.price_out is None else self.price_out
        prices = Prices(price_in, price_out)
        return OpenAIForm(project, model, self.template(), prices=prices, max_tokens=self.max_tokens)

    def judge(self, desk: "Desk", name: str, model: str, calls: _CallOptions) -> "tuple[Judge, _CallOptions]":
        """The judge, which tries again itself, and how it is to be called."""
        from coalface.buying import Patience
        from coalface.desk.annotators.openai import judge_of

        judge = judge_of(
            desk,
            name,
            model,
            self.template(),
            price_in=self.price_in,
            price_out=self.price_out,
            patience=(patience := Patience(calls.retries, calls.backoff)),
            timeout=calls.timeout,
            max_tokens=self.max_tokens,
        )
        return judge, replace(calls, retries=0, timeout=patience.longest(calls.timeout))


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
    calls: _CallOptions,
    rates: _RateOptions,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many answers, or questions of a batch.")
    ] = None,
    budget: Annotated[
        str | None,
        options.amounts(
            "The most examples, costs or price of this run, such as costs=500,price=2; that of the project holds, too."
        ),
    ] = None,
    batches: BatchOptions,
    judging: _JudgeOptions,
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
    from coalface.buying import Rates, annotator_of, model_in
    from coalface.desk.annotators.labelling import Labelling
    from coalface.desk.annotators.openai import shown_prompt
    from coalface.desk.log.ownership import opening
    from coalface.desk.project.label_history import project_now

    model = None if annotator is None else model_in(annotator)
    judging.check(model)
    if judging.show_prompt:
        typer.echo(shown_prompt(project_now(folder), judging.template()))
        return
    if batches.given:
        form = judging.batch_form(batches.batch_form, project_now(folder), model)
        batches.run(folder, name or "batch", form, budget, limit, as_json=as_json)
        return
    if annotator is None:
        raise InputError("--annotator must say who answers, such as module:function. Or use --batch-out or --forecast.")
    allowed = Rates.parsed(rates.rate or [], rates.concurrent or [], project_now(folder).labels)
    program: Any = annotator_of(annotator, calls.timeout) if model is None else None
    who = name or ("program" if model is None else model.replace(":", "-"))
    with opened(folder) as desk, ExitStack() as at_end:
        desk.limit_run(numbers_in("--budget", budget), priced=bool(judging.price_in or judging.price_out))
        if model is not None or agreement is not None:
            desk.judge(who, agreement)
        if model is not None:
            program, calls = judging.judge(desk, who, model, calls)
        if hasattr(program, "close"):
            at_end.callback(program.close)
        with opening(desk.project.address), progress_bar("Answers") as bar:
            shown = _with_expected(lambda answers: bar(answers, limit), desk, as_json=as_json)
            done = Labelling(desk, program, who, limit=limit, rates=allowed, progress=shown, **vars(calls)).run()
        run = _Run(done, desk.progress(), desk.state.calls, program if model is not None else None, desk.judged(who))
    show(run.values(), lambda: run.say(folder, who), as_json=as_json)


@dataclass(frozen=True)
class _Run:
    """What a run has brought."""

    done: Any
    progress: "DeskProgress"
    book: "CallBook"
    judge: "Judge | None"
    checked: "CheckedJudge | None"

    def values(self) -> dict[str, Any]:
        values = {**vars(self.done), "examples": self.progress.examples, "costs": self.progress.costs}
        if self.judge is not None:
            refused = {"invalid": self.judge.invalid, "refusals": self.judge.refusals}
            values["calls"] = {**self.book.plain(), **refused}
        return values if self.checked is None else {**values, "agreement": self.checked.plain()}

    def say(self, folder: Path, who: str) -> None:
        from coalface.desk.service.messages import ENDED

        typer.echo(
            f"{folder}: {counted(self.done.answers, 'answer')} by {who}, {counted(self.done.failures, 'failure')}; "
            f"{counted(self.progress.costs, 'cost')} on {counted(self.progress.examples, 'example')} in all, "
            f"price {self.progress.price:g}. {ENDED[self.done.stopped]}"
        )
        if self.judge is not None:
            _say_calls(self.book, self.judge)
        if self.checked is not None:
            typer.echo(f"Agreement with people: {self.checked.in_words()}.")


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


def _with_expected(progress: Callable[[int], None], desk: "Desk", *, as_json: bool) -> Callable[[int], None]:
    """Progress of a run that prints the forecast to standard error when the first answer has come.

    A run that fails before that says only why.
    """
    waiting = [] if as_json or (expected := desk.expected()) is None else [expected]

    def show(answers: int) -> None:
        if waiting:
            typer.echo(f"Forecast for the rest of the pool: {waiting.pop()} (90 % intervals).", err=True)
        progress(answers)

    return show
