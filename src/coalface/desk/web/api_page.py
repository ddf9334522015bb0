"""``/docs``: the routes of the REST API as a page without scripts, made from their OpenAPI description."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from coalface.desk.web.rendering import page

api_page = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_IN_THE_ADDRESS = "path"


class ShownField(NamedTuple):
    """A field of a body or of a value, or a parameter of a route."""

    name: str
    kind: str
    required: bool
    meaning: str


class ShownRoute(NamedTuple):
    """A route: what it takes and gives."""

    method: str
    path: str
    name: str
    meaning: str
    takes: list[ShownField]
    gives: str


@api_page.get("/docs")
async def _docs(request: Request) -> Response:
    """The routes and the values that they take and give. It holds nothing of any project, so it needs no token."""
    description = request.app.openapi()
    values = {name: _fields(schema) for name, schema in description["components"]["schemas"].items()}
    return page(request, "docs.html", None, routes=routes_by_tag(description), values=values)


def routes_by_tag(description: Mapping[str, Any]) -> dict[str, list[ShownRoute]]:
    """The routes of an OpenAPI description, by their first tag."""
    found: dict[str, list[ShownRoute]] = {}
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            takes = [*_parameters(route), *_body(description, route)]
            shown = ShownRoute(method.upper(), path, route["operationId"], route["description"], takes, _given(route))
            found.setdefault(route["tags"][0], []).append(shown)
    return found


def _parameters(route: Mapping[str, Any]) -> Iterator[ShownField]:
    for one in route.get("parameters", ()):
        if one["in"] != _IN_THE_ADDRESS:
            kind = f"{kind_of(one['schema'])}, in the {one['in']}"
            yield ShownField(one["name"], kind, one.get("required", False), one.get("description", ""))


def _body(description: Mapping[str, Any], route: Mapping[str, Any]) -> list[ShownField]:
    content = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = kind_of(content) if content else ""
    return _fields(description["components"]["schemas"].get(name, {}))


def _fields(schema: Mapping[str, Any]) -> list[ShownField]:
    required = schema.get("required", ())
    fields = schema.get("properties", {}).items()
    return [ShownField(name, kind_of(one), name in required, one.get("description", "")) for name, one in fields]


def _given(route: Mapping[str, Any]) -> str:
    """The kind of the value in a response without an error."""
    done = next(one for status, one in route["responses"].items() if status.startswith("2"))
    return ", ".join(kind_of(one.get("schema", {})) or name for name, one in done.get("content", {}).items())


def kind_of(schema: Mapping[str, Any]) -> str:
    """The type of a value in words.

    >>> kind_of({"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/Item"}}, {"type": "null"}]})
    'list of Item, or null'
    >>> kind_of({"enum": ["add", "retire"]}), kind_of({"type": "object", "additionalProperties": {"type": "number"}})
    ('"add" or "retire"', 'number by name')
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return ", or ".join(map(kind_of, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f'"{value}"' for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {})) or 'values'}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"{kind_of(schema['additionalProperties']) or 'value'} by name"
    return str(schema.get("type", ""))
