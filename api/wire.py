"""The wire contract as files: the OpenAPI document of this release, and the client's models, generated from it.

python -m api.wire           writes api/openapi.json and client/millrace/wire.py
"""

import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from api.app import create_app
from api.openapi import operations
from worker.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "api" / "openapi.json"
MODELS = ROOT / "client" / "millrace" / "wire.py"

_REF = "#/components/schemas/"
_WIDTH = 120
_PLAIN = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "null": "None"}
_HEAD = '''"""What goes over the wire, generated from api/openapi.json by `python -m api.wire`. Do not edit."""
# fmt: off

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from millrace.unset import UNSET, Unset
'''


def main() -> None:
    """Write both files."""
    schema = document()
    DOCUMENT.write_text(as_text(schema))
    MODELS.write_text(models(schema))


def document() -> dict[str, Any]:
    """The OpenAPI document of this checkout; it depends on no settings."""
    with TemporaryDirectory() as home:
        return create_app(Settings(home=Path(home)), lambda _: None).openapi()


def as_text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def models(schema: Mapping[str, Any]) -> str:
    """A module with a frozen dataclass for each schema but pages: the client reads those by itself."""
    schemas: dict[str, dict[str, Any]] = schema["components"]["schemas"]
    requests = _requests(schema)
    classes = [
        "\n".join(_class(name, schemas[name], name in requests)) for name in schemas if not name.startswith("Page_")
    ]
    return _HEAD + "".join(f"\n\n{text}\n" for text in classes)


def _requests(schema: Mapping[str, Any]) -> set[str]:
    """Names of the schemas that are sent to the service. Raises ValueError for one that is also sent by it."""
    sent: set[str] = set()
    received: set[str] = set()
    schemas = schema["components"]["schemas"]
    for _, _, operation in operations(dict(schema)):
        _collect(operation.get("requestBody", {}), schemas, sent)
        _collect(operation["responses"], schemas, received)
    if both := sent & received:
        raise ValueError(f"sent and received: {sorted(both)}; give the request a schema of its own")
    return sent


def _collect(part: Any, schemas: Mapping[str, Any], found: set[str]) -> None:
    if isinstance(part, list):
        part = dict(enumerate(cast("list[Any]", part)))
    if not isinstance(part, dict):
        return
    members = cast("dict[Any, Any]", part)
    name = str(members.get("$ref", "")).removeprefix(_REF)
    if name in schemas and name not in found:
        found.add(name)
        _collect(schemas[name], schemas, found)
    for inner in members.values():
        _collect(inner, schemas, found)


def _class(name: str, schema: Mapping[str, Any], is_request: bool) -> Iterator[str]:
    yield "@dataclass(frozen=True, kw_only=True)"
    yield f"class {name}:"
    yield from _docstring(schema["description"])
    needed = schema.get("required", ())
    for field, of in schema["properties"].items():
        yield ""
        yield f"    {field}: {_annotation(of) if field in needed else _optional(of, is_request)}"
        yield from _docstring(of["description"])


def _docstring(text: str) -> Iterator[str]:
    text = " ".join(text.split())
    if len(text) + 10 <= _WIDTH:
        yield f'    """{text}"""'
        return
    first, *rest = textwrap.wrap(text, _WIDTH - 8)
    yield f'    """{first}'
    yield from (f"    {line}" for line in rest)
    yield '    """'


def _optional(of: Mapping[str, Any], is_request: bool) -> str:
    """Of a request nothing is sent that was not given; of a reply it is what an earlier service did not send."""
    annotation, default = _annotation(of), of.get("default")
    if is_request:
        base = annotation.removesuffix(" | None")
        return f"{base} | Unset{annotation.removeprefix(base)} = UNSET"
    return annotation + (f" = field(default_factory={annotation})" if isinstance(default, list) else f" = {default!r}")


def _annotation(of: Mapping[str, Any]) -> str:
    if "$ref" in of:
        return of["$ref"].removeprefix(_REF)
    if "anyOf" in of:
        return " | ".join(_annotation(one) for one in of["anyOf"])
    if "const" in of:
        return f"Literal[{json.dumps(of['const'])}]"
    if "enum" in of:
        return f"Literal[{', '.join(json.dumps(value) for value in of['enum'])}]"
    if of.get("format") == "date-time":
        return "datetime"
    if of.get("type") == "array":
        return f"list[{_annotation(of['items'])}]"
    if of.get("type") == "object":
        inner: Any = of.get("additionalProperties")
        return f"dict[str, {_annotation(cast('dict[str, Any]', inner)) if isinstance(inner, dict) else 'Any'}]"
    return _PLAIN[of["type"]] if "type" in of else "Any"


if __name__ == "__main__":
    main()
