"""The dashboard's types say what the API's schemas say."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from api.schemas import access, builds, catalog, designs, explorations, farm, sweeps
from compiler.analysis.fusion_report import Cut, FusionReport
from compiler.analysis.placement.placement import BoundaryUse, Placement
from compiler.analysis.shortfall import Shortfall
from compiler.options import Knobs
from compiler.proof.verdict import Verdict
from compiler.simulator.timing.deadlock import Deadlock
from compiler.simulator.timing.simulation import FifoResult, HbmResult, Simulation, TaskResult, TaskTimeline
from dse.objectives import DEFAULT, OBJECTIVES

SOURCES = Path(__file__).resolve().parents[3] / "web" / "src"
API = SOURCES / "lib" / "api"
TYPES, ACCESS, FARM, SWEEPS = (API / name for name in ("types.ts", "access.ts", "farm.ts", "sweeps.ts"))
CLONE = SOURCES / "features" / "builds" / "api" / "cloneBuild.ts"
START = SOURCES / "features" / "designs" / "api" / "startStage.ts"
DATAFLOW = SOURCES / "features" / "designs" / "dataflow.ts"
SIMULATION = SOURCES / "features" / "timing" / "simulation.ts"
# Interfaces of the dashboard, by the schema of the API that they are a view of.
SCHEMAS: dict[str, type[BaseModel]] = {
    "Platform": catalog.Platform,
    "Model": catalog.Model,
    "Workload": catalog.WorkloadShape,
    "Exploration": explorations.Exploration,
    "EstimateErrors": explorations.EstimateErrors,
    "FrontPick": explorations.Pick,
    "NewExploration": explorations.NewExploration,
    "DesignSummary": designs.DesignSummary,
    "Columns": explorations.Scatter,
    "Metric": designs.Metric,
    "Violation": designs.Violation,
    "Flag": designs.Flag,
    "SimulationSummary": designs.SimulationSummary,
    "Build": builds.Build,
    "Attempt": builds.Attempt,
    "Difference": designs.Difference,
    "Rung": designs.Rung,
    "Design": designs.Design,
    "Artifact": designs.Artifact,
}


ELSEWHERE: dict[str, tuple[Path, type[BaseModel]]] = {
    "Me": (ACCESS, access.Me),
    "FarmNode": (FARM, farm.Node),
    "QueueState": (FARM, farm.QueueState),
    "Licence": (FARM, farm.Licence),
    "Farm": (FARM, farm.Farm),
    "Clone": (CLONE, builds.Clone),
    "NewBuild": (START, builds.NewBuild),
    "SweepRunSummary": (SWEEPS, sweeps.SweepRunSummary),
    "SweepWorkload": (SWEEPS, sweeps.SweepWorkload),
    "Sweep": (SWEEPS, sweeps.Sweep),
    "NamedDesign": (SWEEPS, sweeps.NamedDesign),
    "FrontPoint": (SWEEPS, sweeps.FrontPoint),
    "MovedPoint": (SWEEPS, sweeps.MovedPoint),
    "FrontChange": (SWEEPS, sweeps.FrontChange),
    "Change": (SWEEPS, sweeps.Change),
    "MetricChange": (SWEEPS, sweeps.MetricChange),
    "Regression": (SWEEPS, sweeps.Regression),
    "SlotComparison": (SWEEPS, sweeps.SlotComparison),
    "SweepRun": (SWEEPS, sweeps.SweepRun),
}


# Interfaces of what the compiler writes as JSON, by what writes it.
WRITTEN: dict[str, tuple[Path, set[str]]] = {
    "Verdict": (TYPES, {f.name for f in dataclasses.fields(Verdict)}),
    "Fusion": (DATAFLOW, {f.name for f in dataclasses.fields(FusionReport)} | {"summary"}),
    "Cut": (DATAFLOW, {f.name for f in dataclasses.fields(Cut)} | {"levers"}),
    "Shortfall": (DATAFLOW, {f.name for f in dataclasses.fields(Shortfall)} | {"levers"}),
    "Boundary": (DATAFLOW, {f.name for f in dataclasses.fields(BoundaryUse)}),
    "Placement": (DATAFLOW, {f.name for f in dataclasses.fields(Placement)} | {"gap"}),
    "Simulation": (SIMULATION, {f.name for f in dataclasses.fields(Simulation)} | {"cycles", "latency_us"}),
    "Deadlock": (SIMULATION, {f.name for f in dataclasses.fields(Deadlock)}),
    "TaskRun": (SIMULATION, {f.name for f in dataclasses.fields(TaskResult)}),
    "FifoRun": (SIMULATION, {f.name for f in dataclasses.fields(FifoResult)}),
    "HbmUse": (SIMULATION, {f.name for f in dataclasses.fields(HbmResult)}),
    "TaskTimeline": (SIMULATION, {f.name for f in dataclasses.fields(TaskTimeline)}),
}


def fields(interface: str, source: Path = TYPES) -> set[str]:
    body = re.search(rf"export interface {interface}(?: extends \w+)? {{\n(.*?)\n}}", source.read_text(), re.DOTALL)
    assert body is not None, f"{source.name} has no interface {interface}"
    return set(re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE))


@pytest.mark.parametrize("interface", SCHEMAS)
def test_every_field_is_one_of_the_schema(interface: str) -> None:
    unknown = fields(interface) - set(SCHEMAS[interface].model_fields)
    assert not unknown, f"types.ts: {interface} has {sorted(unknown)}, which api/schemas does not"


@pytest.mark.parametrize("interface", ELSEWHERE)
def test_every_field_of_the_farm_is_one_of_the_schema(interface: str) -> None:
    source, schema = ELSEWHERE[interface]
    unknown = fields(interface, source) - set(schema.model_fields)
    assert not unknown, f"{source.name}: {interface} has {sorted(unknown)}, which api/schemas does not"


def test_a_new_exploration_is_sent_whole() -> None:
    assert fields("NewExploration") == set(explorations.NewExploration.model_fields)


def test_every_knob_is_known() -> None:
    assert not {f.name for f in dataclasses.fields(Knobs)} - fields("Knobs")


@pytest.mark.parametrize("interface", WRITTEN)
def test_every_field_is_one_that_the_compiler_writes(interface: str) -> None:
    source, written = WRITTEN[interface]
    assert not fields(interface, source) - written


def test_converters_are_those_of_the_schema() -> None:
    schema = json.loads((SOURCES.parents[1] / "compiler" / "dataflow.schema.json").read_text())
    assert not fields("Converter", DATAFLOW) - set(schema["$defs"]["converter"]["properties"])


def test_the_page_offers_every_objective() -> None:
    source = (SOURCES / "lib" / "objectives.ts").read_text(encoding="utf-8")
    offered = re.search(r"OBJECTIVES = \[(.*?)\]", source, re.DOTALL)
    assert offered is not None
    assert sorted(re.findall(r'"(\w+)"', offered[1])) == sorted(OBJECTIVES)
    assert re.findall(r'DEFAULT[^=]*= \["(\w+)", "(\w+)"\]', source) == [DEFAULT]
