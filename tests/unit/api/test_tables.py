"""All designs of an exploration in one answer, in every format."""

import csv
import io
import json
from typing import Any

import nanoarrow
import nanoarrow.ipc
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from compiler.platforms.platform import load_platform
from db.repositories import designs
from db.repositories.designs import NewMetric
from worker.farm import Farm


def columns_of(client: TestClient, exploration: str) -> dict[str, dict[str, Any]]:
    table = client.get(f"/v1/explorations/{exploration}/table").json()
    assert all(len(column["values"]) == table["rows"] for column in table["columns"])
    return {column["name"]: column for column in table["columns"]}


def test_every_metric_resource_and_knob_of_every_design(
    client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    build = client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "simulate"}).json()["id"]
    found = [NewMetric("latency", 8.5, "us", "simulate", "millrace", "0.1")]
    with farm.database.write() as session:
        designs.record_build(session, design_ids[1], build, "simulate", found)
    table = columns_of(client, exploration["id"])
    assert table["id"]["values"] == design_ids
    assert table["latency_us"]["values"] == [9.0, 8.0, 7.0, None, 5.0]
    assert (table["latency_us"]["unit"], table["latency_us"]["fidelity"]) == ("us", "estimate")
    assert table["latency_us_simulate"]["values"] == [None, 8.5, None, None, None]
    assert table["simulation"]["values"] == [None, "running", None, None, None]
    assert table["reason"]["values"][3] == "the tile does not fit"
    assert table["on_front"]["values"] == [False, True, False, False, True]
    assert table["knob_default_tile_size"]["values"] == [0, 1, 2, None, 4]
    assert table["dsp_used"]["values"] == [12.0, 12.0, 12.0, None, 12.0]
    assert table["dsp"]["kind"] == "share"
    assert table["dsp"]["values"][0] == 12.0 / load_platform("u55c").budget.dsp


def test_every_format_says_the_same(
    client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    path = f"/v1/explorations/{exploration['id']}/table"
    table = columns_of(client, exploration["id"])
    answer = client.get(path, params={"format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["latency_us"] for row in rows] == ["9.0", "8.0", "7.0", "", "5.0"]
    assert list(rows[0]) == list(table)
    answer = client.get(path, params={"format": "arrow"})
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    with nanoarrow.ipc.InputStream.from_readable(io.BytesIO(answer.content)) as stream:
        batches = nanoarrow.ArrayStream(stream)
        schema, read = batches.schema, batches.read_all()
    assert [field.name for field in schema.fields] == list(table)
    units = {field.name: dict(field.metadata.items())[b"unit"] for field in schema.fields}
    assert units["latency_us"] == b"us"
    columns = {
        field.name: column.to_pylist() for field, column in zip(schema.fields, read.iter_children(), strict=True)
    }
    assert columns == {name: column["values"] for name, column in table.items()}
    assert client.get(path, params={"format": "xlsx"}).status_code == 422


def test_lists_are_json_in_a_cell(
    client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    with farm.database.write() as session:
        for n, design in enumerate(design_ids):
            designs.get(session, design).knobs = {"overrides": [] if n else [{"op": "a", "unroll": 2}]}
    text = client.get(f"/v1/explorations/{exploration['id']}/table", params={"format": "csv"}).text
    cells = [row["knob_overrides"] for row in csv.DictReader(io.StringIO(text))]
    assert [json.loads(cell) for cell in cells] == [[{"op": "a", "unroll": 2}], [], [], [], []]


def test_no_query_for_a_row(client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]) -> None:
    asked: list[str] = []
    engine = farm.database.engine
    event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert client.get(f"/v1/explorations/{exploration['id']}/table").status_code == 200
    assert len([query for query in asked if query.startswith("SELECT")]) <= 6


@pytest.mark.parametrize("form", ["json", "csv", "arrow"])
def test_an_exploration_without_designs(client: TestClient, exploration: dict[str, Any], form: str) -> None:
    assert client.get(f"/v1/explorations/{exploration['id']}/table", params={"format": form}).status_code == 200
    assert client.get("/v1/explorations/exp_none/table", params={"format": form}).status_code == 404
