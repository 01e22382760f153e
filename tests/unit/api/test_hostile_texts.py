"""Texts that people may write on things, by bytes that break databases, pages and terminals."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

BELOW, LONE, ESCAPE = "a\x00b", "a\ud800b", "a\x1b[2Jb"
MARKUP, TURNED, LONG = "<img src=x onerror=alert(1)>", "a\u202egnp.exe", "x" * 10_000


def sent(client: TestClient, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Status and reply, of a body in pure ASCII: only so a lone surrogate can be sent."""
    headers = {"Content-Type": "application/json"}
    reply = client.request(method, path, content=json.dumps(body).encode("ascii"), headers=headers)
    return reply.status_code, reply.json()


@pytest.mark.parametrize("text", [BELOW, LONE, ESCAPE])
@pytest.mark.parametrize("field", ["name", "tags", "notes", "platform"])
def test_what_breaks_a_database_or_a_terminal_is_refused(
    client: TestClient, exploration: dict[str, Any], design_ids: list[str], field: str, text: str
) -> None:
    value = [text] if field == "tags" else text
    asked = [
        ("POST", "/v1/explorations", {"model": "gpt2", field: value}),
        ("POST", "/v1/explorations/batch", {"explorations": [{"model": "gpt2", field: value}]}),
    ]
    if field != "platform":
        asked.append(("PATCH", f"/v1/explorations/{exploration['id']}", {field: value}))
    if field in ("tags", "notes"):
        asked.append(("PATCH", f"/v1/designs/{design_ids[0]}", {field: value}))
    for method, path, body in asked:
        status, found = sent(client, method, path, body)
        assert status in (409, 422), (method, path, found)
        assert not {"\x00", "\x1b"} & set(found["detail"])
        assert "^[" not in found["detail"], "a pattern is nothing for people"


def test_other_texts_come_back_as_they_were(
    client: TestClient, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    for path in (f"/v1/explorations/{exploration['id']}", f"/v1/designs/{design_ids[0]}"):
        for notes in (MARKUP, TURNED, LONG, "line\nline\t\u2028"):
            assert sent(client, "PATCH", path, {"notes": notes})[1]["notes"] == notes
        assert sent(client, "PATCH", path, {"tags": ["<b>", "b"]})[1]["tags"] == ["<b>", "b"]
        assert sent(client, "PATCH", path, {"notes": LONG + "x"})[0] == 422
        for tag in ("x" * 41, TURNED, "two words", ""):
            assert sent(client, "PATCH", path, {"tags": [tag]})[0] == 422, tag
