"""``coalface init``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_groups import ColumnOptions
from coalface.cli.option_values import numbers_in
from coalface.cli.screen import counted
from coalface.errors import InputError


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the project.")],
    examples: Annotated[
        Path | None, typer.Option(help="A .jsonl, .csv or .parquet file, or a folder of images.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="A text file with one label per line; not needed with --label or a .parquet ranking."),
    ] = None,
    from_ranking: Annotated[
        Path | None, typer.Option(help="A file that rank wrote: its examples, in their order, instead of --examples.")
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(help="A label tree, a .json file of child: parent; errors cost the distance."),
    ] = None,
    cost_matrix: Annotated[
        Path | None, typer.Option(help="Costs by true label (row) and prediction (column), .csv or .npy.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Features of your own, a row per example: .npy or sparse .npz; or minilm.")
    ] = None,
    true_label: Annotated[
        bool | None,
        typer.Option(
            "--true-label/--costs", help="Ask for the true label, the default with a tree or matrix, or for costs."
        ),
    ] = None,
    levels: Annotated[
        str | None, typer.Option(metavar="NAME=COST,...", help='Named costs, such as "right=0,near miss=1,harmful=3".')
    ] = None,
    cost_bounds: options.CostBounds = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NUMBER,...",
            help="Limits on examples, costs or price, with price_per_example and price_per_cost.",
        ),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL=NUMBER,...", help="The price of asking about each label, if it differs; of all labels."
        ),
    ] = None,
    overlap: Annotated[
        float, typer.Option(min=1.0, help="Ask this many annotators about an example; 1.2: two about every fifth.")
    ] = 1.0,
    gold: Annotated[
        float,
        typer.Option(max=0.5, help="The share of gold questions, whose costs are known, to check annotators."),
    ] = 0.0,
    title: Annotated[str | None, typer.Option(help="The name of the project on its pages.")] = None,
    question: Annotated[str | None, typer.Option(help="The question to annotators.")] = None,
    guidelines: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='A text for annotators; a line "## LABEL" begins the part about a label.'),
    ] = None,
    database: options.Database = "sqlite:///project.db",
    seed: options.Seed = 0,
    *,
    columns: ColumnOptions,
) -> None:
    """Make a labelling project.

    The project is a folder with its settings, its examples and, later, all answers. Annotators read the first --text,
    by default the column text or html, and see other columns as a table, but not --label; without --labels, the
    labels are those of --label.
    """
    from coalface.data.rankings import Ranking
    from coalface.desk.project.guidelines import read_guidelines, unknown_headings
    from coalface.desk.project.project import Project

    ranking = None if from_ranking is None else Ranking.open(from_ranking)
    source = examples if ranking is None else ranking.examples()
    if source is None or (examples is not None and ranking is not None):
        raise InputError("Examples must come from --examples or from --from-ranking. Pass one of them.")
    known = ranking.labels if labels is None and ranking is not None else labels
    if known is None and columns.label is None:
        raise InputError(
            "--labels must name a file with one label per line, unless --label names a column that has them or a "
            ".parquet ranking has its own."
        )
    if ranking is not None and not (levels or cost_bounds or tree or cost_matrix):
        cost_bounds = ranking.cost_bounds
    project = Project.create(
        folder,
        source,
        known,
        **columns.given(),
        tree=tree,
        cost_matrix=cost_matrix,
        features=features,
        true_label=true_label,
        levels=[{"name": name, "cost": cost} for name, cost in numbers_in("--levels", levels).items()],
        cost_bounds=cost_bounds,
        budget=_budget_in(budget, price),
        overlap=overlap,
        gold=gold,
        title=title,
        question=question,
        guidelines="" if guidelines is None else read_guidelines(guidelines),
        database=database,
        seed=seed,
        in_order=ranking is not None,
    )
    for warning in unknown_headings(project.guidelines, project.labels):
        typer.echo(f"Warning: {guidelines}: {warning}", err=True)
    asked = "true labels" if project.true_label else "costs"
    size = f"{counted(len(project.pool), 'example')} ({project.pool.kind}), {counted(len(project.labels), 'label')}"
    typer.echo(f"{folder}: {size}; annotators give {asked}")
    typer.echo(f"The settings are in {folder / 'project.toml'}.")


def _budget_in(budget: str | None, price: str | None) -> dict[str, Any]:
    """The limits of ``--budget`` with the prices of ``--price``."""
    limits: dict[str, Any] = numbers_in("--budget", budget)
    if price is not None and "price_per_cost" in limits:
        raise InputError("--price must be left out if --budget has a price_per_cost for all labels, got both.")
    return limits if price is None else {**limits, "price_per_cost": numbers_in("--price", price)}
