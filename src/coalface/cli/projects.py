"""``coalface init``, ``label``, ``export`` and ``import``: labelling projects."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coalface.cli import options
from coalface.errors import InputError

ProjectFolder = Annotated[Path, typer.Argument(metavar="PROJECT", help="The folder of a project, made by init.")]
_FORMS = {".jsonl": "jsonl", ".csv": "csv", ".vw": "vw", ".coalface": "model"}


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the project.")],
    examples: Annotated[Path, typer.Option(help="A .jsonl, .csv or .parquet file, or a folder of images.")],
    labels: Annotated[Path, typer.Option(help="A text file with a label per line.")],
    tree: Annotated[
        Path | None, typer.Option(help="Labels in a tree, a .json file of child: parent; errors cost the distance.")
    ] = None,
    cost_matrix: Annotated[
        Path | None, typer.Option(help="Costs by true label (row) and prediction (column), .csv or .npy.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Ready-made vectors, a row per example: .npy, or a sparse .npz.")
    ] = None,
    true_label: Annotated[
        bool | None,
        typer.Option(
            "--true-label/--costs", help="Ask for the true label, or for costs; with a tree or matrix the former."
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
            help="Limits: any of examples, costs and price, and price_per_example and price_per_cost.",
        ),
    ] = None,
    overlap: Annotated[int, typer.Option(min=1, help="Ask this many people about every example.")] = 1,
    title: Annotated[str | None, typer.Option(help="What the project is called.")] = None,
    question: Annotated[str | None, typer.Option(help="What annotators are asked.")] = None,
    database: Annotated[
        str, typer.Option(metavar="URL", help="Another database, such as postgresql://USER@HOST/NAME.")
    ] = "sqlite:///project.db",
    seed: options.Seed = 0,
) -> None:
    """Make a labelling project: a folder with its settings, its pool of examples and, later, all answers."""
    from coalface.service.project.project import Project

    project = Project.create(
        folder,
        examples,
        labels,
        tree=tree,
        cost_matrix=cost_matrix,
        features=features,
        true_label=true_label,
        levels=[{"name": name, "cost": cost} for name, cost in _numbers("levels", levels).items()],
        cost_bounds=cost_bounds,
        budget=_numbers("budget", budget),
        overlap=overlap,
        title=title,
        question=question,
        database=database,
        seed=seed,
    )
    asked = "true labels" if project.true_label else "costs"
    size = f"{len(project.pool):,} examples ({project.pool.kind}), {len(project.labels)} labels"
    typer.echo(f"{folder}: {size}; annotators give {asked}")
    typer.echo(f"Settings are in {folder / 'project.toml'}.")


def label(
    folder: ProjectFolder,
    annotator: Annotated[
        str, typer.Option(help="http://... (POST, JSON), module:function, or a command that speaks JSON lines.")
    ],
    name: Annotated[str, typer.Option(help="The name under which the answers are kept.")] = "program",
    workers: Annotated[int, typer.Option(min=1, help="Questions put at the same time.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds to wait for one reply.")] = 60.0,
    retries: Annotated[int, typer.Option(min=0, help="Attempts after the first one, each after twice the pause.")] = 3,
    backoff: Annotated[float, typer.Option(min=0.0, help="Seconds before the second attempt.")] = 1.0,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many answers.")] = None,
    as_json: options.Json = False,
) -> None:
    """Let a program answer, until nothing is worth asking or the budget is spent.

    It gets a question as a JSON object with "content", "labels" and "known", and gives back {"costs": {label: number,
    or null for "can't tell"}} or {"label": the true one}, and where it likes a "price" and a "note". The server of
    the project must not run meanwhile.
    """
    import json

    from coalface.service.annotators.labelling import Labelling
    from coalface.service.annotators.programs import annotator_of
    from coalface.service.desk.desk import Desk
    from coalface.service.desk.messages import ENDED
    from coalface.service.project.ownership import opening
    from coalface.service.project.project import Project

    program: Any = annotator_of(annotator, timeout)
    desk = Desk(Project.open(folder))
    try:
        with opening(desk.project.address):
            done = Labelling(
                desk, program, name, workers=workers, retries=retries, backoff=backoff, timeout=timeout, limit=limit
            ).run()
            progress = desk.progress()
    finally:
        desk.close()
        if hasattr(program, "close"):
            program.close()
    if as_json:
        typer.echo(json.dumps({**vars(done), "examples": progress.examples, "costs": progress.costs}))
        return
    typer.echo(
        f"{folder}: {done.answers:,} answers by {name}, {done.failures:,} failures; {progress.costs:,} costs on "
        f"{progress.examples:,} examples in all, price {progress.price:g}. {ENDED[done.stopped]}"
    )


def export(
    folder: ProjectFolder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Its ending says what: .jsonl, .csv, .vw (answers), .coalface (model) or .zip (the whole project).",
        ),
    ],
) -> None:
    """Write what a project has gathered so far to a file; a .zip can be imported elsewhere.

    It only reads: a service may run meanwhile.
    """
    from contextlib import closing

    from coalface.files.atomic import atomic_write
    from coalface.service.desk.model import LiveModel
    from coalface.service.project.archive import write_archive
    from coalface.service.project.exports import export as pieces
    from coalface.service.project.project import Project

    form = _FORMS.get(file.suffix)
    if form is None and file.suffix != ".zip":
        raise InputError(f"FILE must end in {', '.join(_FORMS)} or .zip, got {file}.")
    project = Project.open(folder)
    with closing(project.open_store()) as store, store.database.one_moment():
        if form is None:
            write_archive(project, store, file)
        else:
            with atomic_write(file) as target:
                for piece in pieces(project, store.log, lambda: LiveModel(project, store.log).learner, form):
                    target.write(piece)
    typer.echo(f"{file}: {file.stat().st_size:,} bytes")


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .zip that export wrote.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the project.")],
    database: Annotated[
        str, typer.Option(metavar="URL", help="An empty database, such as postgresql://USER@HOST/NAME.")
    ] = "sqlite:///project.db",
) -> None:
    """Make a project from an exported one: the same pool, history and model."""
    from coalface.service.project.archive import read_archive

    project = read_archive(file, folder, database)
    typer.echo(
        f"{folder}: {len(project.pool):,} examples, {len(project.labels)} labels. Make new tokens for annotators."
    )


def _numbers(option: str, text: str | None) -> dict[str, float]:
    """What an option says as NAME=NUMBER,NAME=NUMBER.

    >>> _numbers("levels", "right=0, near miss=1")
    {'right': 0.0, 'near miss': 1.0}
    """
    numbers: dict[str, float] = {}
    for part in (text or "").split(",") if text else []:
        name, _, number = part.rpartition("=")
        try:
            numbers[name.strip()] = float(number)
        except ValueError:
            raise InputError(f"--{option} must be NAME=NUMBER,NAME=NUMBER, got {part!r}.") from None
    return numbers
