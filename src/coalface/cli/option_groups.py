"""Options that stand together in several verbs: a verb takes each group as one value."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args

import typer

from coalface.cli import options
from coalface.cli.option_values import (
    MODEL_EXISTS,
    check_new,
    check_nothing_given,
    check_output,
    embedder_in,
    given,
    reader_options,
)

if TYPE_CHECKING:
    from coalface.data import CostDataset
    from coalface.learner import NamedLearner


class OptionGroup:
    """The base of groups, which are dataclasses of options."""

    @classmethod
    def parameters(cls) -> Iterable[inspect.Parameter]:
        """The parameters that Typer reads."""
        return inspect.signature(cls).parameters.values()

    @classmethod
    def taken(cls, values: dict[str, Any]) -> Self:
        """The group with its values, which are taken out of those of all options."""
        return cls(**{name: values.pop(name) for name in inspect.signature(cls).parameters})


@dataclass(frozen=True)
class ColumnOptions(OptionGroup):
    """The roles of columns of a table."""

    label: options.Label = None
    text: options.Text = None
    id: options.Id = None
    ignore: options.Ignore = None

    def given(self) -> dict[str, Any]:
        """The roles that the user gave.

        >>> ColumnOptions(text=["body"], id="ticket").given()
        {'text': ['body'], 'id': 'ticket'}
        """
        return given(label=self.label, text=self.text or None, id=self.id, ignore=self.ignore or None)


@dataclass(frozen=True)
class ExampleOptions(ColumnOptions):
    """The options of a reader of examples, whose costs are not used."""

    separator: options.Separator = None
    decimal: options.Decimal = None
    encoding: options.Encoding = None
    features: options.Features = None
    format: options.Format = "auto"
    reader: options.Reader = None

    def given(self) -> dict[str, Any]:
        """The options that the user gave, by the names that readers have for them.

        >>> ExampleOptions(label="kind", reader=["bits=20"], id="nr").given()
        {'bits': 20, 'label': 'kind', 'id': 'nr'}
        """
        form = given(separator=self.separator, decimal=self.decimal, encoding=self.encoding)
        return {**reader_options(self.reader), **super().given(), **form, **given(embed=embedder_in(self.features))}


@dataclass(frozen=True)
class BlockOptions(ExampleOptions):
    """The options of a reader of examples, block by block."""

    candidates: options.Candidates = False
    block: options.Block = options.BLOCK_ROWS

    def examples(self, named: "NamedLearner", data: Path, rows: int | None = None) -> "Iterator[CostDataset]":
        """The examples in a file, so many rows at a time."""
        from coalface.learner import Stream, examples_of

        stream = Stream(data, self.format, self.given(), rows=self.block if rows is None else rows)
        return examples_of(named, stream, candidates=self.candidates)


@dataclass(frozen=True)
class PoolOptions(OptionGroup):
    """What works on a pool of files."""

    executor: Annotated[
        str, typer.Option(help="For pools: threads, processes or dask://HOST:PORT.", show_default=False)
    ] = ""
    workers: options.Workers = None

    def given(self) -> dict[str, Any]:
        """The options by the names that the functions of pools have for them."""
        return {"executor": self.executor or "threads", "workers": self.workers}


@dataclass(frozen=True)
class ReaderOptions(ExampleOptions):
    """The options of a reader of examples and their costs."""

    cost_matrix: options.CostMatrix = None

    def given(self) -> dict[str, Any]:
        """The options that the user gave, by the names that readers have for them.

        >>> ReaderOptions(label="kind", cost_matrix="costs.csv").given()
        {'label': 'kind', 'cost_matrix': 'costs.csv'}
        """
        return {**super().given(), **given(cost_matrix=self.cost_matrix)}


@dataclass(frozen=True)
class TrainingOptions(OptionGroup):
    """Where a tagger or a parser is kept, and how long it learns."""

    model: options.ModelFile
    more: options.Continue = False
    passes: options.Passes = None
    warm_up: Annotated[int | None, typer.Option(help="Ask for all costs in this many sentences first.")] = None

    @contextmanager
    def saving(self, settings: Sequence[str]) -> Iterator[None]:
        """Hold the file while a new model learns with the named settings, or a saved one learns more with its own."""
        from coalface.files import exclusive

        check_output(self.model, "--model")
        if self.more:
            check_nothing_given(settings)
        with exclusive(self.model):
            if not self.more:
                check_new(self.model, MODEL_EXISTS)
            yield


def with_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with every option of its groups as a parameter of its own, which is what Typer reads.

    >>> def show(data: str, *, columns: ColumnOptions) -> None:
    ...     print(data, columns.given())
    >>> with_groups(show)(data="calls.csv", label="kind", text=None, id=None, ignore=None)
    calls.csv {'label': 'kind'}
    """
    named = inspect.get_annotations(verb).items()
    groups = {
        name: group for name, kind in named if hasattr(group := get_args(kind)[-1] if get_args(kind) else kind, "taken")
    }
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(verb).parameters.values():
        parameters += groups[parameter.name].parameters() if parameter.name in groups else [parameter]

    @wraps(verb)
    def with_options(**values: Any) -> None:
        verb(**{name: group.taken(values) for name, group in groups.items()}, **values)

    expanded = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    vars(with_options)["__signature__"] = inspect.Signature(expanded)
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in expanded}
    return with_options
