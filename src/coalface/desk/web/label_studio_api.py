"""coalface as an ML backend of Label Studio: it predicts tasks, scores them, and learns from annotations.

The address of a project's backend is ``/projects/NAME/label-studio`` or, in a service with one project,
``/label-studio``. Label Studio logs in with basic authentication: any user, and the token of an engineer as password.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, HTTPException, Request
from fastapi.responses import JSONResponse

from coalface.desk.project.label_studio import Interface, choices_in, task_id
from coalface.desk.project.pool import Pool
from coalface.desk.service.desk import Desk
from coalface.desk.web.api import AnyDesk
from coalface.desk.web.auth import Authenticator, only_engineers
from coalface.errors import InputError
from coalface.web.tokens import Caller

_WRITTEN, _DELETED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED"), ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
_CHALLENGE = {"www-authenticate": 'Basic realm="coalface"'}
_MOST_TASKS = 1000
Json = Annotated[dict[str, Any], Body()]


def _engineer_by_password(request: Request) -> Caller:
    """The engineer whose token is the password, or a bearer token, of a request."""
    authenticator: Authenticator = request.app.state.authenticator
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            given = ""
    elif scheme.lower() != "bearer":
        raise HTTPException(401, "A token is needed as the password of basic authentication.", _CHALLENGE)
    return only_engineers(authenticator.authenticate(request, given.strip()))


Engineer = Annotated[Caller, Depends(_engineer_by_password)]
label_studio_api = APIRouter(
    prefix="/label-studio", include_in_schema=False, dependencies=[Depends(_engineer_by_password)]
)


@label_studio_api.get("/")
@label_studio_api.get("/health")
def _health() -> dict[str, str]:
    """Whether the backend is up."""
    return {"status": "UP", "model_class": "coalface"}


@label_studio_api.post("/setup")
def _setup(desk: AnyDesk, body: Json) -> dict[str, str]:
    """Check that the labels of the interface are those of the project; the version of the model."""
    interface = Interface.of(_text(body, "schema"))
    unknown = [label for label in interface.choices if label not in desk.project.labels]
    if unknown:
        raise InputError(
            f"The labelling interface has the choice {unknown[0]!r}, which is not a label of {desk.project.name}. "
            "Add the label with coalface labels, or remove the choice."
        )
    return {"model_version": _version(desk)}


@label_studio_api.post("/predict")
def _predict(desk: AnyDesk, body: Json) -> dict[str, Any]:
    """The label of each task, with a score: 1 is certain; the least certain tasks have the lowest scores."""
    tasks = body.get("tasks")
    if not isinstance(tasks, list) or len(tasks) > _MOST_TASKS or not all(isinstance(one, dict) for one in tasks):
        raise InputError(f'"tasks" must be a list of at most {_MOST_TASKS} tasks, got {tasks!r:.60}. Send fewer.')
    interface, version = Interface.of(_text(body, "label_config")), _version(desk)
    low, high = desk.project.cost_bounds
    found = desk.predict([_example(desk, task, interface) for task in tasks])
    return {
        "results": [
            {
                "result": interface.result(one["label"]),
                "score": 1.0 - _doubt(one) / (high - low),
                "model_version": version,
            }
            for one in found
        ],
        "model_version": version,
    }


@label_studio_api.post("/webhook")
def _webhook(caller: Engineer, desk: AnyDesk, body: Json) -> JSONResponse:
    """Learn an annotation, replace it, or take it back. Label Studio may send the same event twice."""
    action = body.get("action")
    if action in _WRITTEN:
        learned = _learn(desk, _mapping(body, "annotation"), _mapping(body, "task"), body.get("project"))
        return JSONResponse({"status": "ok", "learned": learned}, 201)
    if action in _DELETED:
        gone = body.get("annotations") or [body.get("annotation")]
        ids = [str(one.get("id")) for one in gone if isinstance(one, Mapping)]
        changed = sum(desk.curation.withdraw_annotation(caller.name, name).settled for name in ids)
        return JSONResponse({"status": "ok", "withdrawn": changed}, 201)
    return JSONResponse({"status": "Unknown event"}, 200)


def _learn(desk: Desk, annotation: Mapping[str, Any], task: Mapping[str, Any], project: Any) -> int:
    """Let the model learn an annotation; its task joins the pool if it is new. 0 if it was known or has no choice."""
    labels = choices_in(annotation)
    if not labels:
        return 0
    config = project.get("label_config") if isinstance(project, Mapping) else None
    interface = Interface.of(config if isinstance(config, str) else None)
    record, name = _record_of(task, interface, desk.project.pool), task_id(task)
    by = annotation.get("completed_by")
    who = f"Label Studio {(by.get('email') or by.get('id')) if isinstance(by, Mapping) else by}".replace(":", " ")
    for label in labels:
        desk.state.known_label(label)  # before the task joins the pool
    if not desk.project.pool.has(name):
        desk.curation.add_examples([{**record, desk.project.pool.columns.id: name}], who)
    version = str(annotation.get("updated_at") or annotation.get("created_at") or "1")
    return desk.curation.annotate(who, name, labels, str(annotation.get("id")), version).settled


def _example(desk: Desk, task: Mapping[str, Any], interface: Interface) -> dict[str, Any]:
    record, name = _record_of(task, interface, desk.project.pool), task_id(task)
    return {"id": name} if desk.project.pool.has(name) else record


def _record_of(task: Mapping[str, Any], interface: Interface, pool: Pool) -> dict[str, Any]:
    """A task as an example of the pool: its text, and the cells that the pool has."""
    data = task.get("data")
    if not isinstance(data, Mapping):
        raise InputError(f'A task must have "data", an object with its fields, got {task!r:.60}. Add it.')
    main = (*pool.columns.text, pool.kind)[0]
    record = {} if pool.kind == "table" else {main: data.get(main, data.get(interface.value, ""))}
    return record | {name: data.get(name) for name in sorted(pool.fields or ())}


def _doubt(one: Mapping[str, Any]) -> float:
    """How much the best label may cost more than another one at best."""
    lowest = min(low for low, _ in one["ranges"].values())
    return float(max(one["costs"][one["label"]] - lowest, 0.0)) if one["label"] in one["costs"] else 0.0


def _version(desk: Desk) -> str:
    return f"coalface-{desk.project.name}-{int(desk.state.model.learner.round_) - 1}"


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f'"{name}" must be a text, got {value!r:.60}.')
    return value


def _mapping(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if not isinstance(value, Mapping):
        raise InputError(f'"{name}" must be an object, got {value!r:.60}.')
    return value
