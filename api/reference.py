"""/docs: the REST interface as one plain page, made from the OpenAPI description; needs no script and no network."""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

_STYLE = (
    "body{font:15px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{background:#8882;padding:.1em .3em}"
)


@router.get("/docs")
def get_docs(request: Request) -> HTMLResponse:
    return HTMLResponse(render(request.app.openapi()))


def render(openapi: dict[str, Any]) -> str:
    """HTML of the operations, by path."""
    rows = [
        _operation(path, method, operation)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    title = escape(f"{openapi['info']['title']} {openapi['info']['version']}")
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
    intro = (
        f"<h1>{title}</h1><p>{escape(openapi['info']['description'])}</p>"
        '<p>Machine-readable: <a href="/openapi.json">openapi.json</a></p>'
    )
    return head + intro + "".join(rows)


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parameters = "".join(_parameter(p) for p in operation.get("parameters", []))
    body = ", ".join(operation.get("requestBody", {}).get("content", {}))
    lines = f"<ul>{parameters}{f'<li>body: {escape(body)}</li>' if body else ''}</ul>"
    return f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(operation['summary'])}</p>{lines}"


def _parameter(parameter: dict[str, Any]) -> str:
    text = parameter.get("description", "")
    return f"<li><code>{escape(parameter['name'])}</code> ({parameter['in']}) {escape(text)}</li>"
