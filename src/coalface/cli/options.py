"""Options that several verbs share, each described once."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from coalface.errors import InputError

SOURCE = "A file, a dataset folder, or a name that `coalface data list` shows."
NamedData = Annotated[Path, typer.Argument(metavar="DATA", help=SOURCE)]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="VW text, svmlight, CSV, CoNLL, npz, or a dataset folder.")]
Format = Annotated[str, typer.Option("--format", help="auto, vw, svmlight, csv, conll, npz or folder.")]
Label = Annotated[str | None, typer.Option(help="CSV: the column that holds the true label.")]
CostMatrix = Annotated[
    Path | None,
    typer.Option(
        help="CSV, svmlight: costs by true label (row) and prediction (column), .npy or .csv. A .csv may have names in "
        "its first line and column; without names, rows and columns are the labels in sorted order, or in that of "
        "--reader classes."
    ),
]
Reader = Annotated[
    list[str] | None,
    typer.Option("--reader", metavar="NAME=VALUE", help="Another option of the reader, such as ignore=id,date."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on standard output.")]

# Settings of the learner: one that is not given is left to CoalClassifier, which alone knows its defaults.
Rule = Annotated[
    str | None,
    typer.Option(
        help="coal, all-or-none, no-domination or passive.",
        autocompletion=lambda: ["coal", "all-or-none", "no-domination", "passive"],
    ),
]
Mellowness = Annotated[float | None, typer.Option(help="Larger asks for more costs.")]
LearningRate = Annotated[
    Any,  # a number or the word; Typer knows no unions
    typer.Option(
        parser=lambda text: or_auto(float, text),
        metavar="NUMBER|auto",
        help="How far one answer moves a prediction; auto finds it.",
    ),
]
WarmUp = Annotated[
    Any,
    typer.Option(
        parser=lambda text: or_auto(int, text),
        metavar="NUMBER|auto",
        help="Ask about the first examples in full; auto says how many.",
    ),
]
WidthScale = Annotated[float | None, typer.Option(help="Smaller asks about narrower ranges.")]
Slack = Annotated[str | None, typer.Option(help="published or noise-scaled.")]
AuditRate = Annotated[float | None, typer.Option(help="Chance per example of one extra, random question.")]
Accumulator = Annotated[str | None, typer.Option(help="adax or adagrad.")]
Sensitivity = Annotated[str | None, typer.Option(help="shadow, seen-only or derivative.")]
AbstainCost = Annotated[float | None, typer.Option(help="What it costs to give no label: an answer like any other.")]
AbstainLabel = Annotated[str | None, typer.Option(help='How abstaining is spelled: "abstain", or -1 for numbers.')]
StopSaving = Annotated[
    float | None, typer.Option(help="Stop when more asking would save less than this per example; needs --audit-rate.")
]
Batch = Annotated[int, typer.Option(help="Ask about this many examples before any of them is learned.")]
Alike = Annotated[
    float | None,
    typer.Option(help="Ask for no cost twice on examples this similar in a batch, such as 0.98; 1: on equal ones."),
]
CostBounds = Annotated[tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="The range of all costs.")]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=NUMBER,...",
        help="What may be spent, over how many examples: costs=1000,over=5000, or examples=..., or price=... with "
        "price_per_example=... and price_per_cost=....",
    ),
]
SeedIfGiven = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of everything random; by default 0.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]


def or_auto(number: Callable[[str], float], text: str) -> float | str:
    """What an option says that is a number or the word auto.

    >>> or_auto(int, "10"), or_auto(float, "auto")
    (10, 'auto')
    """
    try:
        return text if text == "auto" else number(text)
    except ValueError:
        kind = "a whole number" if number is int else "a number"
        raise typer.BadParameter(f"it must be {kind} or auto, got {text!r}") from None


def check_nothing_given(settings: dict[str, Any]) -> None:
    """Raise an InputError if ``--continue`` is to change a setting: what was learned so far was learned with the old.

    >>> check_nothing_given({})
    """
    if settings:
        name = next(iter(settings))
        raise InputError(f"{name} cannot change with --continue: the model keeps its settings. Leave it out.")


def given(**settings: Any) -> dict[str, Any]:
    """The settings that somebody gave.

    >>> given(rule=None, mellowness=0.0)
    {'mellowness': 0.0}
    """
    return {name: value for name, value in settings.items() if value is not None}
