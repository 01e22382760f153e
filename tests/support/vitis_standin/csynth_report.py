"""csynth.xml of a kernel whose modules are the tasks of dataflow.json, with loops as Vitis HLS flattens them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from vitis_standin.styles import LOOP

_DEEPER = 2  # cycles that "synthesis" finds a pipeline to be deeper than planned
_AREA = {"BRAM_18K": 2, "DSP": 3, "FF": 700, "LUT": 500, "URAM": 0}
_AVAILABLE = {"BRAM_18K": 4032, "DSP": 9024, "FF": 2607360, "LUT": 1303680, "URAM": 960}


@dataclass(frozen=True)
class _Row:
    name: str
    trips: int
    ii: int
    depth: int
    pipeline: str

    @property
    def cycles(self) -> int:
        return (self.trips - 1) * self.ii + self.depth


def find_dataflow(top: str, folder: Path) -> list[dict[str, Any]] | None:
    """The tasks that the kernel `top` ("<design>_k<number>") of the design above `folder` calls, by the names of their
    functions; None where there is no design.
    """
    for up in (folder, *folder.parents):
        file = up / "dataflow.json"
        if file.is_file():
            number = top.rpartition("_k")[2]
            tasks = json.loads(file.read_text())["tasks"]
            manifest = json.loads((up / "params" / "manifest.json").read_text())
            function = {task["name"]: task["function"] for kernel in manifest["kernels"] for task in kernel["tasks"]}
            called = [task | {"name": function[task["name"]]} for task in tasks if str(task["kernel"]) == number]
            return called or None
    return None


def design_report(
    top: str, tasks: list[dict[str, Any]], version: str, part: str, period: float, words: Mapping[str, str]
) -> tuple[str, int]:
    """The report, and the kernel's cycles; `words` is what it says of the pipeline of each function. One that is called
    several times is one module.
    """
    rows = [_row(task, words.get(task["name"], "yes")) for task in tasks]
    cycles = max(row.cycles for row in rows) + len(rows)
    total = {name: amount * len(rows) for name, amount in _AREA.items()}
    modules = "".join(_module(r.name, r.cycles, _loop(r), period, _AREA, _whole(r)) for r in dict.fromkeys(rows))
    modules += _module(top, cycles, "", period, total, "dataflow")
    calls = ((r.name, sum(other.name == r.name for other in rows[:n])) for n, r in enumerate(rows))
    instances = "".join(
        f"<Instance><InstName>{name}{f'_{n}' if n else ''}_U0</InstName><ModuleName>{name}</ModuleName></Instance>"
        for name, n in calls
    )
    return _profile(top, version, part, period, cycles, total, instances, modules), cycles


def _profile(
    top: str, version: str, part: str, period: float, cycles: int, total: dict[str, int], instances: str, modules: str
) -> str:
    return (
        f"<profile><ReportVersion><Version>{version}</Version></ReportVersion>\n"
        f"<UserAssignments><unit>ns</unit><ProductFamily>virtexuplusHBM</ProductFamily><Part>{part}</Part>"
        f"<TopModelName>{top}</TopModelName>{_clock(period)}<FlowTarget>vitis</FlowTarget></UserAssignments>\n"
        f"<PerformanceEstimates><PipelineType>dataflow</PipelineType><SummaryOfTimingAnalysis><unit>ns</unit>"
        f"{_estimated(period)}</SummaryOfTimingAnalysis><SummaryOfOverallLatency><unit>clock cycles</unit>"
        f"{_latency(cycles)}<Interval-min>{cycles}</Interval-min><Interval-max>{cycles}</Interval-max>"
        f"</SummaryOfOverallLatency></PerformanceEstimates>\n"
        f"<AreaEstimates>{_resources('Resources', total)}{_resources('AvailableResources', _AVAILABLE)}"
        f'</AreaEstimates>\n<RTLDesignHierarchy><TopModule MAX_DEPTH="2"><ModuleName>{top}</ModuleName>'
        f"<InstancesList>{instances}</InstancesList></TopModule></RTLDesignHierarchy>\n"
        f"<ModuleInformation>\n{modules}</ModuleInformation><FIFOInformation></FIFOInformation></profile>\n"
    )


def _row(task: dict[str, Any], pipeline: str) -> _Row:
    timing, dma = task["timing"], task["dma"]
    trips, tokens = _iterations(task["turns"]) if "turns" in task else prod(timing["trips"]), 1
    if dma is not None:  # the loop runs over words
        tokens = dma["tokens_per_word"]
        trips = -(-(trips // dma["words_per_token"]) // tokens) * dma["words_per_token"]
    ii = timing["ii"] * tokens
    return _Row(task["name"], trips, ii, timing["depth"] + _DEEPER + (tokens - 1) * timing["ii"], pipeline)


def _iterations(turns: list[dict[str, Any]]) -> int:
    """Of all nests together, as if they were one loop."""
    return sum(p["times"] * _iterations(p["body"]) if "times" in p else prod(p["trips"]) for p in turns)


def _loop(row: _Row) -> str:
    if row.trips == 1:
        return ""
    name = LOOP
    return (
        f"<SummaryOfLoopLatency><{name}><Name>{name}</Name><Slack>1.00</Slack><TripCount>{row.trips}</TripCount>"
        f"<Latency>{row.cycles}</Latency><PipelineII>{row.ii}</PipelineII><PipelineDepth>{row.depth}</PipelineDepth>"
        f"<PipelineType>{row.pipeline}</PipelineType><InstanceList></InstanceList></{name}></SummaryOfLoopLatency>"
    )


def _whole(row: _Row) -> str:
    """Of the module: a function without a loop is a pipeline itself."""
    return row.pipeline if row.trips == 1 else "no"


def _module(name: str, cycles: int, loop: str, period: float, area: dict[str, int], pipeline: str = "no") -> str:
    return (
        f"<Module><Name>{name}</Name><PerformanceEstimates><SummaryOfTimingAnalysis>{_clock(period)}"
        f"{_estimated(period)}</SummaryOfTimingAnalysis><SummaryOfOverallLatency>{_latency(cycles)}"
        f"<PipelineInitiationInterval>{cycles}</PipelineInitiationInterval><PipelineType>{pipeline}</PipelineType>"
        f"</SummaryOfOverallLatency>{loop}<SummaryOfViolations><IssueType>-</IssueType><ViolationType>-</ViolationType>"
        f"</SummaryOfViolations></PerformanceEstimates><AreaEstimates>{_resources('Resources', area)}</AreaEstimates>"
        f"</Module>\n"
    )


def _clock(period: float) -> str:
    return (
        f"<TargetClockPeriod>{period:.2f}</TargetClockPeriod><ClockUncertainty>{0.27 * period:.2f}</ClockUncertainty>"
    )


def _estimated(period: float) -> str:
    return f"<EstimatedClockPeriod>{0.7 * period:.3f}</EstimatedClockPeriod>"


def _latency(cycles: int) -> str:
    return "".join(f"<{case}-caseLatency>{cycles}</{case}-caseLatency>" for case in ("Best", "Average", "Worst"))


def _resources(tag: str, area: dict[str, int]) -> str:
    return f"<{tag}>" + "".join(f"<{name}>{amount}</{name}>" for name, amount in area.items()) + f"</{tag}>"
