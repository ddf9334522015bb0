"""``coalface predict`` and ``coalface rank``: one file, or a pool of many files."""

import csv
import io
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from coalface.cli import options
from coalface.cli.option_groups import BlockOptions, ExampleOptions, PoolOptions
from coalface.cli.option_values import check_output
from coalface.cli.screen import counted, progress_bar
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data import CostDataset
    from coalface.learner import CoalClassifier


Shown = Literal["none", "clipped", "unclipped"]  # the predicted costs in a line


def predict(
    model: options.Model,
    data: options.DataOrPool,
    *,
    costs: Annotated[
        bool, typer.Option("--costs", help="Add the predicted cost of every label, within --cost-bounds.")
    ] = False,
    unclipped: Annotated[
        bool, typer.Option("--unclipped", help="Add the predicted costs, also outside the bounds.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write one Parquet file per file of a pool into this folder, not beside them.")
    ] = None,
    to: Annotated[str, typer.Option(help="The format of the output: jsonl or csv.")] = "jsonl",
    pools: PoolOptions,
    reading: BlockOptions,
) -> None:
    """Print the label with the least predicted cost per example.

    The output is JSON lines, or CSV with --to csv, with the ids of the examples if they have any. A model trained with
    --abstain-cost may also answer "abstain".

    Predictions may lie outside the bounds of costs. --costs shows them within, where several labels may be equal;
    --unclipped shows the numbers that decide.

    Several files or a quoted pattern, or --executor or --out, are a pool: the predictions of part-0.parquet are written
    to part-0.predictions.parquet. After Ctrl-C or a crash, the same command does only what is missing.
    Lines are printed as soon as a block is read; --block 1 answers each line of standard input at once.
    """
    if to not in ("jsonl", "csv"):
        raise InputError(f"--to must be jsonl or csv, got {to!r}. Choose one.")
    if not (_is_pool(data) or pools.executor or out is not None):
        shown: Shown = "unclipped" if unclipped else "clipped" if costs else "none"
        _predict_file(model, data[0], reading, shown, as_csv=to == "csv")
        return
    if to == "csv":
        raise InputError("--to csv is for one file, got a pool, whose predictions are Parquet files. Leave it out.")
    if unclipped:
        raise InputError("--unclipped is for one file, got a pool. Pass --costs, for costs within the bounds.")
    from coalface.studies.pools import predict_pool

    with progress_bar("Predicting") as progress:
        how = {**_pool_columns(reading), **pools.given()}
        outcome = predict_pool(model, data, out=out, costs=costs, progress=progress, **how)
    typer.echo(f"{outcome}.")
    typer.echo(f"Predictions: NAME.predictions.parquet {'beside each file' if out is None else f'in {out}'}.")


def _predict_file(model: Path, data: Path, reading: BlockOptions, shown: Shown, *, as_csv: bool) -> None:
    from coalface.learner import NamedLearner

    current, n_rows = NamedLearner.load(model), 0
    for dataset in reading.examples(current, data):
        if not n_rows and current.learner.model_.unanswered().all():
            warnings.warn(
                f"{model} has learned no cost yet, so it predicts its first label. Tell it some.", stacklevel=2
            )
        for line in _lines(current.learner, dataset, n_rows, shown):
            if as_csv and line["row"] == 0:
                typer.echo(_csv_line(_cells(line)))
            typer.echo(_csv_line(_cells(line).values()) if as_csv else json.dumps(line))
        n_rows += len(dataset)


def _cells(line: dict[str, Any]) -> dict[str, Any]:
    """A prediction by the columns of a table; a file of its own has them as columns of costs."""
    from coalface.data import COST_PREFIX

    costs = {f"{COST_PREFIX}{label}": cost for label, cost in line.get("costs", {}).items()}
    return {name: value for name, value in line.items() if name != "costs"} | costs


def _csv_line(cells: Iterable[Any]) -> str:
    from coalface.data import harmless

    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([harmless(str(cell)) for cell in cells])
    return line.getvalue()


def _lines(learner: "CoalClassifier", dataset: "CostDataset", first: int, shown: Shown) -> Iterator[dict[str, Any]]:
    """The predictions of a block whose first row has this number."""
    from coalface.data import label_texts
    from coalface.learner import scale_of

    labels = learner.predict(dataset.X, candidates=dataset.candidates).tolist()
    predicted = None if shown == "none" else learner.predict_cost(dataset.X)
    if predicted is not None and shown == "clipped":
        predicted = scale_of(learner).within(predicted)
    names = label_texts(learner.classes_)
    for row, best in enumerate(labels):
        named = {} if dataset.ids is None else {"id": str(dataset.ids[row])}
        line: dict[str, Any] = {"row": first + row, **named, "label": best}
        if predicted is not None:
            line["costs"] = dict(zip(names, (round(cost, 6) for cost in predicted[row].tolist()), strict=True))
        yield line


def rank(
    model: options.Model,
    data: options.Parts,
    *,
    out: Annotated[Path, typer.Option(help="The ranking, a .parquet or .jsonl file.")],
    top: Annotated[int, typer.Option(min=1, help="How many examples to keep.")] = 10_000,
    alike: Annotated[
        float | None,
        typer.Option(help="Keep near-duplicates of this similarity once; 1 for equal ones, by default as the model."),
    ] = None,
    pools: PoolOptions,
    id: options.Id = None,
    ignore: options.Ignore = None,
) -> None:
    """Find the examples of a pool that are most worth asking about.

    They are those where questions could still save most: the predicted cost of the label less the least cost that any
    label may have. Near-duplicates count once. `coalface init DIR --from-ranking FILE` makes a labelling project of
    them. Results of single files are kept until the end: after Ctrl-C or a crash, the same command continues.
    """
    from coalface.studies.pools import rank_pool

    check_output(out, "--out")
    with progress_bar("Ranking") as progress:
        outcome, found = rank_pool(
            model,
            data,
            out,
            top,
            alike=alike,
            **pools.given(),
            progress=progress,
            id=id,
            ignore=ignore or (),
        )
    typer.echo(f"{outcome}.")
    typer.echo(f"{out}: {counted(found, 'example')}, the most worth asking about first.")
    if found < top:
        typer.echo("About all others, the model would ask nothing, or they are near-duplicates.")


_OF_POOLS = {"id", "ignore", "label"}


def _is_pool(data: Sequence[Path]) -> bool:
    """Whether these are several files, or a pattern.

    >>> _is_pool([Path("new.csv")]), _is_pool([Path("pool/*.csv")])
    (False, True)
    """
    return len(data) > 1 or has_magic(str(data[0]))


def _pool_columns(reading: ExampleOptions) -> dict[str, Any]:
    """The columns of ids and of what is not a feature, from the options of a reader; other options are refused.

    >>> _pool_columns(ExampleOptions(id="ticket", label="team"))
    {'id': 'ticket', 'ignore': ['team']}
    """
    given = reading.given()
    for name in given:
        if name not in _OF_POOLS:
            raise InputError(f"{name} cannot be used with a pool: only id, ignore and label can. Leave it out.")
    label = [given["label"]] if "label" in given else []
    return {"id": given.get("id"), "ignore": [*given.get("ignore", ()), *label]}
