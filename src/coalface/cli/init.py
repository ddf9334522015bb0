"""``coalface init``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_values import numbers_in
from coalface.cli.screen import counted


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the project.")],
    examples: Annotated[Path, typer.Option(help="A .jsonl, .csv or .parquet file, or a folder of images.")],
    labels: Annotated[Path, typer.Option(help="A text file with one label per line.")],
    tree: Annotated[
        Path | None,
        typer.Option(help="A label tree, a .json file of child: parent; errors cost the distance."),
    ] = None,
    cost_matrix: Annotated[
        Path | None, typer.Option(help="Costs by true label (row) and prediction (column), .csv or .npy.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Features of your own, one row per example: .npy, or a sparse .npz.")
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
    overlap: Annotated[int, typer.Option(min=1, help="Ask this many annotators about every example.")] = 1,
    title: Annotated[str | None, typer.Option(help="The name of the project on its pages.")] = None,
    question: Annotated[str | None, typer.Option(help="The question to annotators.")] = None,
    database: options.Database = "sqlite:///project.db",
    seed: options.Seed = 0,
) -> None:
    """Make a labelling project.

    The project is a folder with its settings, its examples and, later, all answers.
    """
    from coalface.service.project.project import Project

    project = Project.create(
        folder,
        examples,
        labels,
        tree=tree,
        cost_matrix=cost_matrix,
        features=features,
        true_label=true_label,
        levels=[{"name": name, "cost": cost} for name, cost in numbers_in("--levels", levels).items()],
        cost_bounds=cost_bounds,
        budget=numbers_in("--budget", budget),
        overlap=overlap,
        title=title,
        question=question,
        database=database,
        seed=seed,
    )
    asked = "true labels" if project.true_label else "costs"
    size = f"{counted(len(project.pool), 'example')} ({project.pool.kind}), {counted(len(project.labels), 'label')}"
    typer.echo(f"{folder}: {size}; annotators give {asked}")
    typer.echo(f"The settings are in {folder / 'project.toml'}.")
