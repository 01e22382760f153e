"""Texts that no database takes; `tests/e2e/test_database.py` tries the same on Postgres."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from text_contract import check_texts

from api.text import WHAT, body_flaw


def test_every_text_of_every_route(client: TestClient) -> None:
    app: Any = client.app
    assert check_texts(client, app) > 150


def test_an_upload(client: TestClient) -> None:
    config = json.dumps({"model_type": "gpt2", "notes": ["\ud800"]}).encode()
    reply = client.post("/v1/models", files={"file": ("config.json", config)})
    assert reply.status_code == 422
    assert WHAT in reply.json()["detail"]
    assert client.post("/v1/models", files={"file": ("config.json", b"{}")}, data={"name": "a\0"}).status_code == 422


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [1, {"b": "x\0"}]}, "#/a/1/b"),
        ({"a": {"\udfff": 1}}, "#/a"),
        ("\ud800", "#"),
        ({"a": "\U0001f600 whole, as are \ufffd and \x7f"}, None),
        ([None, 1.5, True], None),
    ],
)
def test_where_it_stands(value: Any, where: str | None) -> None:
    assert body_flaw(value) == where


def test_it_may_be_deep() -> None:
    value: Any = "\0"
    for _ in range(1000):
        value = [value]
    assert body_flaw(value) is not None
