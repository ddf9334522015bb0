"""Options that several verbs share, each described once."""

from pathlib import Path
from typing import Annotated

import typer

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

Rule = Annotated[
    str,
    typer.Option(
        help="coal, all-or-none, no-domination or passive.",
        autocompletion=lambda: ["coal", "all-or-none", "no-domination", "passive"],
    ),
]
Mellowness = Annotated[float, typer.Option(help="Larger asks for more costs.")]
LearningRate = Annotated[float, typer.Option(help="How far one answer moves a prediction.")]
WarmUp = Annotated[int, typer.Option(help="Ask about the first examples in full.")]
WidthScale = Annotated[float, typer.Option(help="Smaller asks about narrower ranges.")]
Slack = Annotated[str, typer.Option(help="published or noise-scaled.")]
AuditRate = Annotated[float, typer.Option(help="Chance per example of one extra, random question.")]
Accumulator = Annotated[str, typer.Option(help="adax or adagrad.")]
Sensitivity = Annotated[str, typer.Option(help="shadow, seen-only or derivative.")]
AbstainCost = Annotated[float | None, typer.Option(help="What it costs to give no label: an answer like any other.")]
AbstainLabel = Annotated[str | None, typer.Option(help='How abstaining is spelled: "abstain", or -1 for numbers.')]
StopSaving = Annotated[
    float | None, typer.Option(help="Stop when more asking would save less than this per example; needs --audit-rate.")
]
CostBounds = Annotated[tuple[float, float], typer.Option(metavar="LOW HIGH", help="The range of all costs.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
