"""The verbs of a project as a whole: ``coalface init``, ``agreement``, ``export`` and ``import``."""

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_groups import ColumnOptions
from coalface.cli.option_values import check_target, numbers_in
from coalface.cli.screen import counted, print_table, show
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.desk.service.agreements import AgreementRow, CheckedJudge


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
    cost_matrix: options.CostMatrix = None,
    features: Annotated[
        Path | None, typer.Option(help="Features of your own, a row per example: .npy or sparse .npz; or minilm.")
    ] = None,
    true_label: Annotated[
        bool | None,
        typer.Option(
            "--true-label/--costs", help="Ask for the true label, the default with a tree or matrix, or for costs."
        ),
    ] = None,
    levels: Annotated[str | None, options.amounts('Named costs, such as "right=0,near miss=1,harmful=3".')] = None,
    cost_bounds: options.CostBounds = None,
    budget: Annotated[
        str | None, options.amounts("Limits on examples, costs or price, with price_per_example and price_per_cost.")
    ] = None,
    price: Annotated[
        str | None, options.amounts("The price of asking about each label, if it differs; of all labels.", "LABEL")
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
    from coalface.desk.project.guidelines import read_guidelines, unknown_headings
    from coalface.desk.project.project import Project
    from coalface.studies.pools.pool_files import Ranking

    ranking = None if from_ranking is None else Ranking.open(from_ranking)
    source = examples if ranking is None else ranking.examples()
    if source is None or (examples is not None and ranking is not None):
        raise InputError("Examples must come from --examples or from --from-ranking. Pass one of them.")
    known = ranking.labels if labels is None and ranking is not None else labels
    if known is None and columns.label is None:
        raise InputError(
            "--labels must name a file with one label per line, unless --label names a column that has them or a "
            ".parquet ranking has its own. Pass one of them."
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
        raise InputError(
            "--price must be left out if --budget has a price_per_cost for all labels, got both. Choose one."
        )
    return limits if price is None else {**limits, "price_per_cost": numbers_in("--price", price)}


_ALPHA = ["alpha", "95 % interval", "examples", "costs"]
ByLabel = Annotated[bool, typer.Option("--by-label", help="One row per label: how far all annotators agree on it.")]


def agreement(folder: options.ProjectFolder, by_label: ByLabel = False, as_json: options.Json = False) -> None:
    """Show how far the annotators of a project agree with people, or with each other on each label.

    Agreement is Krippendorff's alpha over the costs that an annotator and people gave for the same examples, with a
    95 % interval: 1 is perfect, 0 is chance. The answers of a judge below its gate are held back. The command only
    reads, so the project's server may run at the same time.
    """
    from contextlib import closing
    from dataclasses import asdict

    from coalface.desk.project.project import Project
    from coalface.desk.service.agreements import all_judged, label_agreements
    from coalface.desk.service.counters import Counters

    project = Project.open(folder)
    with closing(project.open_store()) as store, store.database.one_moment():
        counters = Counters.of(project, store.log)
    if by_label:
        labels = label_agreements(counters, project.offered)
        show([asdict(one) for one in labels], partial(_show_labels, labels), as_json=as_json)
    else:
        found = all_judged(counters)
        show([one.plain() for one in found], partial(_show_annotators, found), as_json=as_json)


def _show_labels(found: "list[AgreementRow]") -> None:
    rows = [
        [one.name, *_interval(one.alpha, one.low, one.high), f"{one.examples:,}", f"{one.costs:,}"] for one in found
    ]
    print_table("Agreement of all annotators", ["label", *_ALPHA], rows)


def _show_annotators(found: "list[CheckedJudge]") -> None:
    rows = []
    for one in found:
        alpha, low, high, units, examples = one.agreement
        gate = f"{one.gate:g} ({'open' if one.open else 'closed'})" if one.gate else "-"
        counts = [f"{examples:,}", f"{units:,}", gate, f"{one.held_back:,}"]
        rows.append([one.name, "judge" if one.judge else "person", *_interval(alpha, low, high), *counts])
    print_table("Agreement with people", ["annotator", "kind", *_ALPHA, "gate", "held back"], rows)


def _interval(alpha: float | None, low: float | None, high: float | None) -> list[str]:
    if alpha is None or low is None or high is None or not math.isfinite(alpha):
        return ["-", "-"]
    return [f"{alpha:.2f}", f"{low:.2f} to {high:.2f}"]


_FORMS = {
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".vw": "vw",
    ".coalface": "model",
    ".json": "label-studio",
    ".parquet": "parquet",
}
_PREDICTIONS = {"jsonl": "predictions", "csv": "predictions.csv"}


def export(
    folder: options.ProjectFolder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=".jsonl, .csv, .vw, .json (Label Studio), .parquet (Hugging Face), .coalface (model) or .zip (all).",
        ),
    ],
    predictions: Annotated[
        bool,
        typer.Option("--predictions", help=".jsonl or .csv: the label, costs and ranges of every example of the pool."),
    ] = False,
    top: Annotated[
        int | None, typer.Option(min=1, help="With --predictions: only so many examples, the most uncertain first.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Write the answers, predictions, the model or all of a project to a file.

    Export only reads, so the project's server may run at the same time.
    """
    from contextlib import closing

    from coalface.desk.project.project import Project
    from coalface.desk.service.archive import write_archive
    from coalface.desk.service.exports import export as pieces
    from coalface.desk.service.model import LiveModel
    from coalface.files import atomic_write

    form = _FORMS.get(file.suffix)
    if form is None and file.suffix != ".zip":
        raise InputError(f"FILE must end in {', '.join(_FORMS)} or .zip, got {file}. Choose another name.")
    if predictions and form not in _PREDICTIONS:
        raise InputError(f"With --predictions, FILE must end in .jsonl or .csv, got {file}. Choose another name.")
    if top is not None and not predictions:
        raise InputError("--top must come with --predictions. Leave it out.")
    check_target(file, force=force)
    project = Project.open(folder)
    with closing(project.open_store()) as store, store.database.one_moment():
        if form is None:
            write_archive(project, store, file)
        else:
            form = _PREDICTIONS[form] if predictions else form
            with atomic_write(file, private=True) as target:
                for piece in pieces(project, store.log, lambda: LiveModel(project, store.log).learner, form, top):
                    target.write(piece)
    typer.echo(f"{file}: {file.stat().st_size:,} bytes")


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .zip file that export wrote.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the project.")],
    database: options.Database = "sqlite:///project.db",
    most_bytes: Annotated[int, typer.Option(min=1, help="Refuse a file that unpacks to more than this.")] = 64 << 30,
) -> None:
    """Make a project from an exported .zip file.

    It has the same examples, answers and model.
    """
    from coalface.desk.service.archive import ArchiveLimits, read_archive

    project = read_archive(file, folder, database, ArchiveLimits(bytes=most_bytes))
    typer.echo(
        f"{folder}: {counted(len(project.pool), 'example')}, {counted(len(project.labels), 'label')}. "
        "Make new tokens for annotators."
    )
