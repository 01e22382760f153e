"""A design directory besides its code: design.json, dataflow.json, README.md, test data (design section 8)."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compiler.analysis.estimate import Estimate
from compiler.errors import InvalidInputError
from compiler.frontend.bundle import Bundle
from compiler.graph.task_graph import TaskGraph
from compiler.metrics import TOOL, VERSION
from compiler.options import Knobs
from compiler.platforms.platform import Platform

OnStage = Callable[[str], None]


def silent(_stage: str) -> None:
    """Progress that nobody watches."""


README = """# {name}

{model}, {phase}, length {length}, {precision}, for {board} at {clock:g} MHz.
{kernels} kernel(s), {tasks} tasks, {converters} layout converters.

| metric | value | unit | fidelity |
|---|---:|---|---|
{metrics}

| file | what it is |
|---|---|
| `design.json` | knobs, platform, metrics, digests |
| `dataflow.json` | tasks with timing specs, streams, converters, memories |
| `ir/` | the IR after every pass, readable and parsable |
| `hls/` | HLS C++, testbench, `hls.cfg`, `run_hls.tcl`, `link.cfg` |
| `params/`, `tb/` | packed weights with a manifest; inputs and PyTorch's results |
| `host/run.py` | pyxrt program that runs the bitstream |

Check it against PyTorch (needs g++ only):

    millrace csim .

Build and run it on the board (needs Vitis and XRT):

    cd hls && vitis_hls -f run_hls.tcl        # to 2023.2; from 2024.1: v++ -c --mode hls --config hls.cfg
    v++ -l -t hw --platform {shell} --config link.cfg *.xo -o ../{name}.xclbin
    python3 ../host/run.py ../{name}.xclbin
"""


def write_testbench_data(bundle: Bundle, design: Path) -> None:
    """PyTorch's results and the network, so that csim needs nothing but the design directory."""
    folder = design / "tb"
    folder.mkdir(exist_ok=True)
    for name in ("expected.npz", "graph.json"):
        shutil.copyfile(bundle.directory / name, folder / name)


def write_description(
    bundle: Bundle, knobs: Knobs, platform: Platform, tasks: TaskGraph, estimated: Estimate, design: Path
) -> None:
    """design.json, dataflow.json and README.md."""
    dataflow = json.dumps(tasks.to_json(), indent=1)
    (design / "dataflow.json").write_text(dataflow)
    graph = (bundle.directory / "graph.json").read_bytes()
    description: dict[str, Any] = {
        "name": tasks.name,
        "tool": TOOL,
        "tool_version": VERSION,
        "workload": bundle.workload.to_json(),
        "platform": platform.name,
        "knobs": knobs.to_json(),
        "metrics": [m.to_json() for m in estimated.metrics],
        "violations": [{"resource": v.resource, "demand": v.demand, "bound": v.bound} for v in estimated.violations],
        "digests": {
            "graph.json": hashlib.sha256(graph).hexdigest(),
            "dataflow.json": hashlib.sha256(dataflow.encode()).hexdigest(),
        },
    }
    (design / "design.json").write_text(json.dumps(description, indent=1))
    rows = (f"| {m.name} | {m.value:,.6g} | {m.unit} | {m.fidelity} |" for m in estimated.metrics)
    (design / "README.md").write_text(
        README.format(
            name=tasks.name,
            model=bundle.workload.model,
            phase=bundle.workload.phase,
            length=bundle.workload.length,
            precision=bundle.workload.precision,
            board=platform.title,
            clock=platform.clock_mhz,
            shell=platform.shell,
            kernels=tasks.kernels,
            tasks=len(tasks.tasks),
            converters=sum(t.kind == "converter" for t in tasks.tasks),
            metrics="\n".join(rows),
        )
    )


def read_design(directory: Path) -> dict[str, Any]:
    """The content of `design.json`. Raises InvalidInputError where `directory` is not a design directory."""
    try:
        return json.loads((directory / "design.json").read_text())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InvalidInputError(f"{directory} is not a design directory: it has no design.json") from error
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{directory}/design.json is damaged: {error}; compile the design again") from error


def last_stage(directory: Path) -> Path:
    """The IR after the last pass."""
    stages = sorted((directory / "ir").glob("[0-9][0-9]-*.mlir"))
    if not stages:
        raise InvalidInputError(f"{directory}/ir is empty; compile the design again")
    return stages[-1]
