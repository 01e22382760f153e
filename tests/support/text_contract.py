"""No text of a request may hold what a database does not take: every parameter and field of the OpenAPI document."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.openapi import operations
from api.text import WHAT

NUL, HALF = "a\0b", "a\ud800b"
HALF_AS_BYTES = "a%ED%A0%80b"


def check_texts(client: TestClient, app: FastAPI) -> int:
    """Put a NUL, then half of a character, into each text that a request may hold; how many were tried."""
    document, tried = app.openapi(), 0
    for method, path, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            if _is_text(parameter["schema"], document):
                tried += _check_parameter(client, method, path, parameter)
        for body in _bodies(operation, document):
            tried += _check_body(client, method, path, body)
    return tried


def _check_parameter(client: TestClient, method: str, path: str, parameter: dict[str, Any]) -> int:
    name, place = parameter["name"], parameter["in"]
    if place == "header":  # texts of one octet a character: there is no half
        _refused(client, method, _filled(path), (place, name), headers={name: NUL})
        return 1
    for bad in (quote(NUL), HALF_AS_BYTES):
        if place == "path":
            _refused(client, method, _filled(path, {name: bad}), (place, name))
        else:
            _refused(client, method, f"{_filled(path)}?{name}={bad}", (place, name))
            _refused(client, method, f"{_filled(path)}?{bad}=1", (place, name))
    return 2


def _check_body(client: TestClient, method: str, path: str, bad: Any) -> int:
    for text in (NUL, HALF):
        content = json.dumps(bad).replace('"?"', json.dumps(text))
        headers = {"Content-Type": "application/json"}
        _refused(client, method, _filled(path), ("body", content), content=content, headers=headers)
    return 2


def _refused(client: TestClient, method: str, url: str, what: tuple[str, str], **parts: Any) -> None:
    reply = client.request(method, url, **parts)
    said = f"{method} {url} with a bad {what}: {reply.status_code} {reply.text[:300]}"
    assert reply.status_code == 422, said
    assert WHAT in reply.json()["detail"], said


def _filled(path: str, values: dict[str, str] | None = None) -> str:
    filled = path
    for name, value in (values or {}).items():
        filled = filled.replace(f"{{{name}}}", value)
    return filled.replace("{", "").replace("}", "")


def _bodies(operation: dict[str, Any], document: dict[str, Any]) -> Iterator[Any]:
    """A body for each text in it, with "?" in its place and nothing else."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return iter(()) if content is None else _places(content["schema"], document)


def _places(schema: dict[str, Any], document: dict[str, Any]) -> Iterator[Any]:
    found = _resolved(schema, document)
    for choice in found.get("anyOf", ()):
        yield from _places(choice, document)
    if found.get("type") == "string":
        yield "?"
    elif found.get("type") == "array":
        yield from ([inner] for inner in _places(found["items"], document))
    elif found.get("type") == "object":
        for name, field in found.get("properties", {}).items():
            yield from ({name: inner} for inner in _places(field, document))
        if found.get("additionalProperties", "properties" not in found):  # fields of any name
            yield from ({"x": {"y": ["?"]}}, {"?": 1})


def _is_text(schema: dict[str, Any], document: dict[str, Any]) -> bool:
    return "?" in _places(schema, document)


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
