"""Pydantic models of what reviewers read and send."""

from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator

from coalface.desk.service.reviews import Listed
from coalface.desk.web.api_models import Body, Cost, Name, Reason, View


class HappeningView(View):
    """One thing that happened to an example."""

    id: int
    at: datetime
    kind: str
    who: str | None
    costs: dict[str, float | None]
    note: str
    stands: bool
    replaced: bool
    seconds: float | None


class ReviewedView(View):
    """All about one example."""

    example: Listed
    content: dict[str, Any]
    costs: dict[str, float | None]
    predicted: dict[str, Any]
    history: list[HappeningView]


class CorrectionBody(Body):
    """The right costs of some labels, or the true ``label``, and why."""

    example_id: Name
    costs: dict[Name, Cost | None] = Field(default_factory=dict)
    label: Name | None = None
    reason: Reason

    @model_validator(mode="after")
    def _either_costs_or_label(self) -> Self:
        if (self.label is None) != bool(self.costs):
            raise ValueError("A correction gives either costs or the true label. Give one of them.")
        return self
