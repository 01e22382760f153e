"""The REST interface as a page, made from the OpenAPI document that the service answers with."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api.app import create_app
from api.openapi import operations
from worker.settings import Settings

_HEAD = """# REST

Every operation of the API, from its OpenAPI document, which a running service has at `/openapi.json`; at
<a href="/docs">/docs</a> it has the same to look through. POST answers 202 with an id and honours `Idempotency-Key`;
errors are [problem documents](errors.md#problem-documents); lists are paged by cursor. The role is the least that a key
needs where the service asks for keys. This page is made by `python -m bench.site.reference`.
"""
Schema = dict[str, Any]


def openapi() -> Schema:
    """The document of this version."""
    with tempfile.TemporaryDirectory() as home:
        app = create_app(Settings(home=Path(home)), lambda *_: None)
        try:
            return app.openapi()
        finally:
            app.state.farm.close()


def rest_reference() -> str:
    """Markdown: a section an operation, by the resource that it is about; then what is in replies and requests."""
    document = openapi()
    parts, last = [_HEAD], ""
    for method, path, operation in sorted(operations(document), key=lambda o: (_resource(o[1]), o[1], o[0])):
        if (resource := _resource(path)) != last:
            parts.append(f"## {resource}\n")
            last = resource
        parts += _operation(method, path, operation)
    parts.append("## Objects\n")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += _object(name, schema)
    return "\n".join(parts).rstrip() + "\n"


def _resource(path: str) -> str:
    parts = path.strip("/").split("/")
    return parts[1] if parts[0] == "v1" and len(parts) > 1 else "service"


def _operation(method: str, path: str, operation: Schema) -> Iterator[str]:
    yield f"### `{method} {path}`\n"
    role = operation.get("x-least-role")
    said = [operation.get("summary", "").rstrip(".") + ".", _plain(operation.get("description", ""))]
    yield " ".join(filter(None, [*said, f"Role: {role}." if role else ""])) + "\n"
    rows = [
        f"| `{p['name']}` | {p['in']} | {_type(p.get('schema', {}))} | {_plain(p.get('description', ''))} |"
        for p in operation.get("parameters", [])
    ]
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        rows.append(f"| | body | {_type(body.get('schema', {}))} | `{kind}` |")
    if rows:
        yield "\n".join(["| parameter | in | type | means |", "|---|---|---|---|", *rows]) + "\n"
    answers = [_answer(status, answer) for status, answer in operation["responses"].items() if status < "400"]
    yield f"Answers {'; '.join(answers)}.\n"


def _answer(status: str, answer: Schema) -> str:
    types = [_type(content["schema"]) for content in answer.get("content", {}).values() if content.get("schema")]
    return f"{status} {', '.join(types) or 'without a body'}"


def _object(name: str, schema: Schema) -> Iterator[str]:
    yield f"### {name}\n"
    if said := _plain(schema.get("description", "")):
        yield f"{said}\n"
    if "enum" in schema:
        yield f"One of {', '.join(f'`{value}`' for value in schema['enum'])}.\n"
    wanted = schema.get("required", [])
    rows: list[str] = []
    for key, part in schema.get("properties", {}).items():
        optional = "" if key in wanted else " (may be left out)"
        rows.append(f"| `{key}`{optional} | {_type(part)} | {_plain(part.get('description', ''))} |")
    if rows:
        yield "\n".join(["| field | type | means |", "|---|---|---|", *rows]) + "\n"


def _type(schema: Schema) -> str:
    """In words; an object that has a section is a link to it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_type(part) for part in schema[several]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any")


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
