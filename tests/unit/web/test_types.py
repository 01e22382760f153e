"""The dashboard's types say what the API's schemas say."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from api import schemas

TYPES = Path(__file__).resolve().parents[3] / "web" / "src" / "lib" / "api" / "types.ts"
# Interfaces of the dashboard, by the schema of the API that they are a view of.
SCHEMAS: dict[str, type[BaseModel]] = {
    "Platform": schemas.Platform,
    "Model": schemas.Model,
    "Workload": schemas.WorkloadShape,
    "Exploration": schemas.Exploration,
    "NewExploration": schemas.NewExploration,
    "DesignSummary": schemas.DesignSummary,
    "Columns": schemas.Scatter,
    "Metric": schemas.Metric,
    "Violation": schemas.Violation,
    "Build": schemas.Build,
    "Design": schemas.Design,
    "Artifact": schemas.Artifact,
}


def fields(interface: str) -> set[str]:
    body = re.search(rf"export interface {interface}(?: extends \w+)? {{\n(.*?)\n}}", TYPES.read_text(), re.DOTALL)
    assert body is not None, f"types.ts has no interface {interface}"
    return set(re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE))


@pytest.mark.parametrize("interface", SCHEMAS)
def test_every_field_is_one_of_the_schema(interface: str) -> None:
    unknown = fields(interface) - set(SCHEMAS[interface].model_fields)
    assert not unknown, f"types.ts: {interface} has {sorted(unknown)}, which api/schemas.py does not"


def test_a_new_exploration_is_sent_whole() -> None:
    assert fields("NewExploration") == set(schemas.NewExploration.model_fields)
