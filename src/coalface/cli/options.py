"""Options that several verbs share, each described once."""

from pathlib import Path
from typing import Annotated, Any

import typer


def amounts(help: str, name: str = "NAME") -> Any:
    """An option for numbers with names, such as costs=500,price=2."""
    return typer.Option(metavar=f"{name}=NUMBER,...", help=help)


SOURCE = "A file, a dataset folder, or a name that `coalface data list` shows."
NamedData = Annotated[Path, typer.Argument(metavar="DATA", help=SOURCE)]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, JSON lines, Parquet, VW text, svmlight, CoNLL, npz or a folder; - for standard input.",
    ),
]
BLOCK_ROWS = 65_536  # as in data.streams.contract, which is slow to import
Block = Annotated[
    int,
    typer.Option(
        min=1,
        help="Read this many rows at a time. The first of them decide the labels and the kinds of columns, unless the "
        "model knows them.",
    ),
]
Parts = Annotated[
    list[Path],
    typer.Argument(metavar="DATA", help="Files or quoted patterns such as 'pool/*.parquet': .parquet, .csv or .jsonl."),
]
DataOrPool = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA",
        help="CSV, JSON lines, Parquet, VW text, svmlight, CoNLL, npz or a folder; or the files of a pool.",
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, help="The number of workers; by default one per core.")]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A model that train, simulate --save or export (a .coalface file) wrote."),
]
ProjectFolder = Annotated[Path, typer.Argument(metavar="PROJECT", help="A project folder that init made.")]
Format = Annotated[str, typer.Option("--format", help="auto, vw, svmlight, csv, jsonl, parquet, conll, npz or folder.")]
Label = Annotated[str | None, typer.Option(help="CSV, JSON lines, Parquet: the column of the true label.")]
Text = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="COLUMN", help="A column of texts, if it is not recognised; may be repeated."),
]
Separator = Annotated[
    str | None, typer.Option(help='CSV: what separates cells, such as ";" or tab; by default, the first lines show it.')
]
Decimal = Annotated[str | None, typer.Option(metavar="MARK", help='CSV: the decimal mark, "." or ",".')]
Encoding = Annotated[str | None, typer.Option(help="CSV: the encoding, such as utf-8, cp1252 or utf-16.")]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="NAME",
        help="What makes numbers of texts: words (default) or minilm, sentence embeddings.",
        autocompletion=lambda: ["words", "minilm"],
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="COLUMN", help="A column to leave out; may be repeated.")
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of ids, which the output repeats; by default id."),
]
CostMatrix = Annotated[
    Path | None,
    typer.Option(
        help="Costs by true label (row) and prediction (column), .npy or .csv. A .csv may have names in its first line "
        "and column; without names, they are the labels in sorted order, or in the order in which you list them."
    ),
]
Reader = Annotated[
    list[str] | None,
    typer.Option("--reader", metavar="NAME=VALUE", help="Another option of the reader, such as classes=a,b."),
]
Candidates = Annotated[
    bool,
    typer.Option("--candidates", help="VW text: use the labels of a line also where each line lists only one."),
]
Report = Annotated[Path | None, typer.Option(help="Write an HTML page with tables and figures.")]
ModelFile = Annotated[Path, typer.Option("--model", metavar="FILE", help="The file to save the model in.")]
Continue = Annotated[bool, typer.Option("--continue", help="Learn more with a saved model, with its settings.")]
Passes = Annotated[int | None, typer.Option(help="The number of passes over the sentences.")]
Host = Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 lets other machines connect.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")]
Proxy = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Trust X-Forwarded-* headers from this proxy.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file or dataset that exists.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]

# Settings of the learner; CoalClassifier has the defaults of those that the user leaves out.
AsPublished = Annotated[
    bool,
    typer.Option("--as-published", help="Start from the paper's settings, as Vowpal Wabbit runs them with --adax."),
]
AbstainCost = Annotated[float | None, typer.Option(help="The cost of giving no label; predict abstains if it is less.")]
AbstainLabel = Annotated[str | None, typer.Option(help='What predict prints then: "abstain", or -1 for numbers.')]
StopSaving = Annotated[
    float | None, typer.Option(help="Stop when more asking would save less than this per example; needs --audit-rate.")
]
CostModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What predicts the costs: auto (default), online, ridge, forest, classes or joint.",
        autocompletion=lambda: ["auto", "online", "ridge", "forest", "classes"],
    ),
]
Interactions = Annotated[
    str | None,
    typer.Option(
        metavar="2|RANGExRANGE,...",
        help="Learn products of features too, with the online model: 2 for those of any two columns; 0:40x40:90 for "
        "those of columns 0 to 39 with columns 40 to 89.",
    ),
]
Batch = Annotated[int, typer.Option(help="Ask about this many examples before learning from any of them.")]
Alike = Annotated[
    float | None,
    typer.Option(help="Ask only once for a cost of examples in a batch that are this similar, such as 0.98; 1: equal."),
]
CostBounds = Annotated[
    tuple[float, float] | None,
    typer.Option(
        metavar="LOW HIGH|auto",
        help="The least and the greatest possible cost; auto: those of the answers so far.",
    ),
]
Budget = Annotated[
    str | None,
    amounts(
        "How much to spend over how many examples: costs=1000,over=5000, or examples=..., or price=... with "
        "price_per_example=... and price_per_cost=...."
    ),
]
Database = Annotated[str, typer.Option(metavar="URL", help="An empty database, such as postgresql://USER@HOST/NAME.")]
SeedIfGiven = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of all random numbers; by default 0.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")]
Sentences = Annotated[
    Path, typer.Argument(metavar="FILE", help="A CoNLL file: one word per line, a blank line after each sentence.")
]
Tagger = Annotated[Path, typer.Argument(metavar="MODEL", help="A tagger that tag train wrote.")]
WordColumn = Annotated[int | None, typer.Option("--word", help="The column of words, from 0; by default the first.")]
TagColumn = Annotated[int | None, typer.Option("--tag", help="The column of tags; by default -1, the last.")]
Repair = Annotated[
    bool, typer.Option("--repair", help="Make illegal tags legal, such as I-PER without a B-PER before it.")
]
Trees = Annotated[Path, typer.Argument(metavar="FILE", help="A CoNLL-U file, plain or .gz.")]
Parser = Annotated[Path, typer.Argument(metavar="MODEL", help="A parser that parse train wrote.")]
