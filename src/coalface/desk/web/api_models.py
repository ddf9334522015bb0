"""The bodies and the parameters of REST requests; what the service responds are messages of the desk."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

# Databases cannot store the character 0.
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[^\x00]+$")]
Reason = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]
Cost = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Lifetime = Annotated[float, Field(ge=1, le=86400, allow_inf_nan=False, description="Seconds until the lease ends.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="The largest number of items on a page.")]
Cursor = Annotated[str, Query(pattern=r"^[0-9]{0,15}$", description="The next_cursor of the previous page.")]
Top = Annotated[int | None, Query(ge=1, le=10**9, description="Predictions: only so many, the most uncertain first.")]


class RequestBody(BaseModel):
    """A request."""

    # A misspelt field is an error, and so is a value of another type: true is not the number 1.
    model_config = ConfigDict(extra="forbid", strict=True)


class LeaseBody(RequestBody):
    """The number of queries, and the duration of their leases."""

    max_items: int = Field(1, ge=1, le=100, description="Annotators: at most 10, for at most 3,600 seconds.")
    ttl_s: Lifetime = 600.0


class RenewBody(RequestBody):
    """The duration of a lease from now."""

    ttl_s: Lifetime = 600.0


Note = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]


class SkipBody(RequestBody):
    """Why a query is skipped."""

    note: Note | None = None


class FlagBody(RequestBody):
    """What an engineer should know about the example."""

    note: Annotated[str, StringConstraints(min_length=1, max_length=10_000, pattern=r"^[^\x00]*$")]


class AnswerBody(RequestBody):
    """Costs by label (null or ``unsure`` means "can't tell"), or the true ``label`` in a project that asks for it."""

    query_id: Identifier
    lease_id: Identifier
    costs: dict[Name, Cost | None] = Field(default_factory=dict)
    unsure: list[Name] = Field(default_factory=list)
    label: Name | None = None
    ahead: list[Name] = Field(
        default_factory=list, description="Those of the query's later labels that were asked about, with costs above."
    )
    lead_time_s: Seconds | None = None
    note: Note | None = None


Form = Literal["jsonl", "csv", "vw", "model", "predictions", "predictions.csv", "label-studio", "parquet"]
NameCursor = Annotated[
    str, Query(max_length=200, pattern=r"^[^\x00]*$", description="The next_cursor of the previous page.")
]


class PredictBody(RequestBody):
    """Examples in the format of the project's pool."""

    examples: list[dict[str, Any]] = Field(min_length=1, max_length=1000)


class LabelsBody(RequestBody):
    """One change of the labels: ``add`` or ``retire`` a label, or ``rename`` one ``to`` another name.

    A new label of a project with costs of errors comes with ``cost_matrix``, the costs of all labels, the new one last.
    """

    add: Name | None = None
    rename: Name | None = None
    to: Name | None = None
    retire: Name | None = None
    cost_matrix: list[list[float]] | None = None


class ExamplesBody(RequestBody):
    """Examples that join the pool, in its format; ``first`` asks about them before all undecided ones."""

    examples: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)
    first: bool = False


class IdsBody(RequestBody):
    """Examples by id, and why they are retired or brought back."""

    ids: list[Identifier] = Field(min_length=1, max_length=10_000)
    reason: Reason = ""


class CostsBody(RequestBody):
    """Known costs: ``{"id", "label"}`` with the true label, or ``{"id", "costs"}`` by label."""

    items: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)
    gold: bool = Field(False, description="Check annotators with these examples; replaces what is known about them.")


class TokenBody(RequestBody):
    """The owner of a new token."""

    name: Name
    role: Literal["annotator", "reviewer", "engineer"] = "annotator"
