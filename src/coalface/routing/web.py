"""The routing service over HTTP: ``POST /route``, ``POST /outcomes`` and ``GET /report``."""

import hmac
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field

from coalface.routing.desk import Decision, ModelOutcome, RoutingDesk
from coalface.version import __version__
from coalface.web.http_errors import RESPONSES, install_error_handlers
from coalface.web.middleware import LARGEST_BODY, Safeguards

_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="The token that the server was started with.")
_MOST_OUTCOMES = 1000  # in one request


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class RouteBody(_Body):
    """A request to be routed: its text, or an object with the columns of the training table."""

    example: str | dict[str, str | float | bool | None]
    quality_weight: float | None = Field(None, ge=0)
    models: list[str] | None = Field(None, min_length=1, description="The models that can be chosen; by default all.")


class OutcomeBody(_Body):
    """The outcome of one model: its loss from 0 to 1, null for "can't tell", and what the run has cost."""

    model: str
    loss: float | None = Field(ge=0, le=1)
    price: float | None = Field(None, ge=0)


class OutcomesBody(_Body):
    """Outcomes of one decision."""

    decision: str = Field(max_length=100)
    outcomes: list[OutcomeBody] = Field(min_length=1, max_length=_MOST_OUTCOMES)


class ModelView(BaseModel):
    """What the router knows about one model on this request."""

    predicted_loss: float
    lowest_loss: float
    highest_loss: float
    price: float


class RouteView(BaseModel):
    """The chosen model, the numbers behind the choice, and the models whose outcome the router would like to know."""

    decision: str
    model: str
    quality_weight: float | None
    models: dict[str, ModelView]
    ask: list[str]


class ReceiptView(BaseModel):
    """How many of the outcomes were new; the others were known already."""

    decision: str
    learned: int


def routing_service(desk: RoutingDesk, token: str | None = None, *, largest_body: int = LARGEST_BODY) -> FastAPI:
    """The ASGI app of a desk; with a ``token``, every request must carry it."""

    async def check_token(bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]) -> None:
        given = "" if bearer is None else bearer.credentials.strip()
        if token is not None and not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
            raise HTTPException(401, "A token is needed: Authorization: Bearer TOKEN.", {"www-authenticate": "Bearer"})

    app = FastAPI(
        title="coalface route",
        version=__version__,
        description="Choose a model for a request, and send the outcome back.",
        openapi_url="/openapi.json",
        docs_url=None,  # FastAPI's documentation pages load scripts from other sites
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        dependencies=[Depends(check_token)],
        responses=RESPONSES,
    )
    install_error_handlers(app)

    @app.post("/route")
    def route_request(body: RouteBody) -> RouteView:
        """Choose a model; the decision is on disk when this returns."""
        return _view(desk.route(body.example, quality_weight=body.quality_weight, models=body.models))

    @app.post("/outcomes")
    def add_outcomes(body: OutcomesBody) -> ReceiptView:
        """Take outcomes back; they are on disk when this returns. The same outcome twice counts once."""
        found = [ModelOutcome(one.model, one.loss, one.price) for one in body.outcomes]
        return ReceiptView(decision=body.decision, learned=desk.take(body.decision, found))

    @app.get("/report")
    def get_report() -> dict[str, Any]:
        """Spend, estimated regret and counts."""
        return desk.report().to_json()

    app.add_middleware(Safeguards, largest_body=largest_body)
    return app


def _view(decision: Decision) -> RouteView:
    parts: Mapping[str, Mapping[str, float]] = {
        "predicted_loss": {name: min(max(loss, 0.0), 1.0) for name, loss in decision.predicted_loss.items()},
        "lowest_loss": decision.lowest,
        "highest_loss": decision.highest,
        "price": {name: float(f"{price:.12g}") for name, price in decision.price.items()},  # a mean has rounding errors
    }
    weight = decision.quality_weight
    return RouteView(
        decision=decision.id,
        model=decision.model,
        quality_weight=None if weight == float("inf") else weight,
        models={name: ModelView(**{part: values[name] for part, values in parts.items()}) for name in decision.price},
        ask=list(decision.ask),
    )
