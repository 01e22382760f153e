"""The OpenAPI document is the wire contract: everything in it is described, operations have plain names."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.openapi import operations

UNITS = {"us", "uj", "mhz", "gb", "gb_s", "s"}
SPOKEN = {"us": " us", "uj": "uJ", "mhz": "MHz", "gb": "GB", "gb_s": "GB/s", "s": "Seconds"}


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    return client.get("/openapi.json").json()


def test_every_field_is_described(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    bare = [name for name, schema in schemas.items() if not schema.get("description")]
    bare += [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, of in schema.get("properties", {}).items()
        if not of.get("description")
    ]
    assert bare == []


def test_a_field_that_is_named_after_its_unit_says_it(document: dict[str, Any]) -> None:
    silent = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, of in schema.get("properties", {}).items()
        for unit in [unit_of(field)]
        if unit is not None and SPOKEN[unit] not in of["description"]
    ]
    assert silent == []


def unit_of(field: str) -> str | None:
    endings = [unit for unit in UNITS if field.endswith(f"_{unit}")]
    return max(endings, key=len, default=None)


def test_every_parameter_and_operation_is_described(document: dict[str, Any]) -> None:
    bare = [
        f"{method} {path} {parameter['name']}"
        for method, path, operation in operations(document)
        for parameter in [*operation.get("parameters", []), operation | {"name": "itself"}]
        if not parameter.get("description")
    ]
    assert bare == []


def test_operations_are_called_by_plain_names(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() and "v1" not in name for name in names)
