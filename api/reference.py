"""/docs: the REST interface as one page, made from the OpenAPI description; its forms send requests. All of it is
from this origin.
"""

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse

from api.openapi import operations

router = APIRouter(include_in_schema=False)

_REF = "#/components/schemas/"
_SCRIPT = Path(__file__).with_name("reference.js")
_STYLE = (
    "body{font:15px/1.5 system-ui;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "code,pre,textarea,input{font:13px/1.4 ui-monospace,monospace}code{background:#8882;padding:.1em .3em}"
    "table{border-collapse:collapse;margin:.5rem 0}td{padding:.15rem .6rem .15rem 0;vertical-align:top}"
    "details{border-top:1px solid #8884;padding:.4rem 0}summary{cursor:pointer}pre{overflow:auto;max-height:24rem}"
    "textarea{width:100%;box-sizing:border-box}form{background:#8881;padding:.6rem;margin:.5rem 0}label{display:block}"
)
_INTRO = """<p>Machine-readable: <a href="/openapi.json">openapi.json</a>. From Python:
<a href="/client/">the client</a>. Requests below are sent by this browser, with this key
where one is given, else with its login.</p>
<label>API key <input id="key" type="password" autocomplete="off" size="48"></label>"""


@router.get("/docs")
def get_docs(request: Request) -> HTMLResponse:
    return HTMLResponse(render(request.app.openapi()))


@router.get("/docs/reference.js")
def get_script() -> FileResponse:
    return FileResponse(_SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


def render(openapi: dict[str, Any]) -> str:
    """HTML of the operations by topic, then of the schemas."""
    title = escape(f"{openapi['info']['title']} {openapi['info']['version']}")
    head = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
        f'<script defer src="/docs/reference.js"></script><h1>{title}</h1>'
        f"<p>{escape(openapi['info']['description'])}</p>{_INTRO}"
    )
    topics: dict[str, list[str]] = {}
    for method, path, operation in operations(openapi):
        topic = operation.get("tags", ["other"])[0]
        topics.setdefault(topic, []).append(_operation(method, path, operation, openapi))
    shown = "".join(f"<h2>{escape(topic)}</h2>{''.join(parts)}" for topic, parts in topics.items())
    schemas: dict[str, dict[str, Any]] = openapi["components"]["schemas"]
    return f"{head}{shown}<h2>schemas</h2>{''.join(_schema(name, of) for name, of in schemas.items())}"


def _operation(method: str, path: str, operation: Mapping[str, Any], openapi: Mapping[str, Any]) -> str:
    parameters: list[dict[str, Any]] = operation.get("parameters", [])
    rows = [(f"{p['name']} ({p['in']})", _type(p["schema"]), p.get("description", "")) for p in parameters]
    body: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    rows += [("body", f"{escape(kind)}: {_type(of['schema'])}", "") for kind, of in body.items()]
    rows += [(f"answer {status}", kind, "") for status, kind in _answers(operation)]
    role = escape(str(operation.get("x-least-role", "any")))
    return (
        f"<details><summary><code>{method} {escape(path)}</code> {escape(operation['description'])}</summary>"
        f"<p>Least role: {role}</p>{_table(rows)}{_form(method, path, parameters, body, openapi)}</details>"
    )


def _answers(operation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Status and type of the answers that are no problems."""
    for status, answer in operation["responses"].items():
        if status < "400":
            content: dict[str, Any] = answer.get("content", {})
            yield status, "; ".join(f"{escape(kind)}: {_type(of.get('schema', {}))}" for kind, of in content.items())


def _form(
    method: str, path: str, parameters: list[dict[str, Any]], body: Mapping[str, Any], openapi: Mapping[str, Any]
) -> str:
    """Fields of a request. Event streams have no end, and uploads are no text: they have none."""
    if path.endswith(("/events", "/log/stream")):
        return ""
    inputs = "".join(
        f'<label>{escape(p["name"])} <input name="{escape(p["name"])}" data-in="{p["in"]}"'
        f"{' required' if p.get('required') else ''}></label>"
        for p in parameters
        if p["in"] != "cookie"
    )
    if "application/json" in body:
        example = json.dumps(_example(body["application/json"]["schema"], openapi), indent=1)
        inputs += f'<label>body<textarea name="body" rows="6">{escape(example)}</textarea></label>'
    what = f'data-method="{method}" data-path="{escape(path)}"'
    return f"<form {what}>{inputs}<button>Send</button><pre hidden></pre></form>"


def _example(schema: Mapping[str, Any], openapi: Mapping[str, Any]) -> Any:
    """What a request must hold, with texts and numbers to replace."""
    if "$ref" in schema:
        schema = openapi["components"]["schemas"][schema["$ref"].removeprefix(_REF)]
    properties: dict[str, Any] = schema.get("properties", {})
    if schema.get("type") == "object":
        return {name: _example(properties[name], openapi) for name in schema.get("required", ()) if name in properties}
    if schema.get("type") == "array":
        return [_example(schema["items"], openapi)]
    return schema.get("default", schema.get("enum", [0 if schema.get("type") in ("integer", "number") else "..."])[0])


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    needed: list[str] = schema.get("required", [])
    properties: dict[str, Any] = schema.get("properties", {})
    rows = [
        (field if field in needed else f"{field}, optional", _type(of), of.get("description", ""))
        for field, of in properties.items()
    ]
    return (
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> {escape(schema["description"])}</summary>'
        f"{_table(rows)}</details>"
    )


def _table(rows: list[tuple[str, str, str]]) -> str:
    """Name, type (which is HTML) and description."""
    lines = (f"<tr><td><code>{escape(n)}</code><td>{kind}<td>{escape(text)}" for n, kind, text in rows)
    return f"<table>{''.join(lines)}</table>"


def _type(schema: Mapping[str, Any]) -> str:
    """The type as HTML, with links to schemas, and what bounds it."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_REF))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    bounds = [f"{name} {schema[name]:g}" for name in ("minimum", "maximum") if name in schema]
    return escape(" ".join([str(schema.get("format", schema.get("type", "anything"))), *bounds]))
