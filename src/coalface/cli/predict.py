"""``coalface predict``."""

import json
from typing import Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions


def predict(
    model: options.Model,
    data: options.Data,
    *,
    costs: Annotated[bool, typer.Option("--costs", help="Add the predicted cost of every label.")] = False,
    format: options.Format = "auto",
    reading: ReaderOptions,
) -> None:
    """Print the label with the least predicted cost per example.

    The output is JSON lines. A model trained with --abstain-cost may also answer "abstain".
    """
    from coalface.data.labels import label_texts
    from coalface.learner.named_learner import NamedLearner

    current = NamedLearner.load(model)
    dataset = current.read(data, format, reading.given())
    labels = current.learner.predict(dataset.X, candidates=dataset.candidates).tolist()
    predicted = current.learner.predict_cost(dataset.X).tolist() if costs else None
    names = label_texts(current.learner.classes_)
    for row, best in enumerate(labels):
        line: dict[str, Any] = {"row": row, "label": best}
        if predicted is not None:
            line["costs"] = dict(zip(names, (round(cost, 6) for cost in predicted[row]), strict=True))
        typer.echo(json.dumps(line))
