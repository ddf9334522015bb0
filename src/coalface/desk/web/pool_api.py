"""REST routes under ``/api/v1`` for engineers: examples join and leave the pool, and known costs are imported."""

from fastapi import APIRouter, Depends

from coalface.desk.service.pool_changes import records_of
from coalface.desk.web import api_models as models
from coalface.desk.web.api import COMMON, NamedDesk
from coalface.desk.web.auth import Engineer, engineer_of_api

pool_api = APIRouter(dependencies=[Depends(engineer_of_api)], **COMMON)


@pool_api.post("/projects/{project}/examples", status_code=201)
def add_examples(caller: Engineer, desk: NamedDesk, body: models.ExamplesBody) -> models.AddedView:
    """Add examples to the pool. Those that it has already, with the same content, are left as they are."""
    records, features = records_of(body.examples)
    found = desk.curation.add_examples(records, caller.name, features=features, first=body.first)
    return models.AddedView.model_validate(found)


@pool_api.post("/projects/{project}/examples:retire")
def retire_examples(caller: Engineer, desk: NamedDesk, body: models.IdsBody) -> models.ChangedView:
    """Ask about these examples no more, and let the model forget them. The log keeps their answers."""
    return models.ChangedView(changed=desk.curation.retire_examples(body.ids, caller.name, body.reason))


@pool_api.post("/projects/{project}/examples:restore")
def restore_examples(caller: Engineer, desk: NamedDesk, body: models.IdsBody) -> models.ChangedView:
    """Bring retired examples back, with their answers."""
    return models.ChangedView(changed=desk.curation.restore_examples(body.ids, caller.name, body.reason))


@pool_api.post("/projects/{project}/costs", status_code=201)
def import_costs(caller: Engineer, desk: NamedDesk, body: models.CostsBody) -> models.SettledView:
    """Let the model learn labels and costs that exist already. Examples with known costs keep theirs."""
    return models.SettledView.model_validate(desk.curation.import_costs(body.items, caller.name, gold=body.gold))
