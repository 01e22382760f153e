"""The OpenAPI document: what FastAPI reads off the routes, and what holds for all of them: problems, keys, roles."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from api.access import ROUTES
from api.caller import COOKIE
from api.middleware import CHANGING
from api.problems import MEDIA_TYPE
from api.schemas.common import Problem

_EVERYWHERE = (400, 401, 403, 422, 429, 500, 503)
_OF_ONE = (404, 409)
_OF_CHANGES = (404, 409, 413, 507)
# By RFC 9110; Python has them from 3.13 on.
_PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}
_SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "an API key, where the service asks for one"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "the login of the dashboard"},
}
_REPLACED = ("HTTPValidationError", "ValidationError")


def document(app: FastAPI) -> None:
    """Have `app` describe itself whole."""
    described = app.openapi

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(described())
        return app.openapi_schema

    app.openapi = whole


def _completed(schema: dict[str, Any]) -> dict[str, Any]:
    components = schema.setdefault("components", {})
    components["securitySchemes"] = _SCHEMES
    schemas: dict[str, Any] = components.setdefault("schemas", {})
    for name in _REPLACED:
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    for method, path, operation in operations(schema):
        _complete(operation, method, path)
    return schema


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(method, path, description) of every operation."""
    for path, item in schema["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def _complete(operation: dict[str, Any], method: str, path: str) -> None:
    responses: dict[str, Any] = operation["responses"]
    responses.pop("422", None)  # FastAPI's own, which says what we do not answer
    for status in (*_EVERYWHERE, *(_OF_ONE if "{" in path else ()), *(_OF_CHANGES if method in CHANGING else ())):
        responses.setdefault(str(status), _problem(status))
    least = ROUTES.get(f"{method} {path}") or ROUTES.get(f"{method} {path.replace('{path}', '{path:path}')}")
    if least is not None:
        operation["x-least-role"] = least
        operation["security"] = [{}] if least == "open" else [{"key": []}, {"cookie": []}, {}]


def _problem(status: int) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answer: dict[str, Any] = {"description": _PHRASES.get(status) or HTTPStatus(status).phrase, "content": content}
    if status == 429:
        answer["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds"}}
    return answer
