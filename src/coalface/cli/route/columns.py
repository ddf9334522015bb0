"""The options that name the columns of a table of outcomes."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli.option_values import given, names_in

if TYPE_CHECKING:
    from coalface.routing.outcomes import OutcomeColumns


@dataclass(frozen=True)
class ColumnNames:
    """The columns of a table of outcomes; those left out have the names of the training, or the usual ones."""

    model_column: Annotated[str | None, typer.Option(help="The column of the model; by default model.")] = None
    loss_column: Annotated[
        str | None, typer.Option(help="The column of the loss, from 0 to 1; by default loss or cost.")
    ] = None
    price_column: Annotated[str | None, typer.Option(help="The column of what a run has cost; by default price.")] = (
        None
    )
    id_column: Annotated[str | None, typer.Option(help="The column of the request's id; by default id.")] = None
    ignore: Annotated[str | None, typer.Option(help="Columns to leave out, such as day,user.")] = None

    def within(self, others: "OutcomeColumns") -> "OutcomeColumns":
        """The columns with these names, and those of ``others`` that the user did not name."""
        left = None if self.ignore is None else tuple(names_in("--ignore", self.ignore))
        names = {"model": self.model_column, "loss": self.loss_column, "price": self.price_column, "id": self.id_column}
        return replace(others, **given(**names, ignore=left))
