"""A design directory besides its code: design.json, dataflow.json, README.md, test data (design section 8)."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from compiler.analysis.build import task_graph
from compiler.analysis.estimate import Estimate
from compiler.analysis.limits import Work, impossible, work_of
from compiler.analysis.placement.board_plan import BoardPlan
from compiler.analysis.provenance import calibration_note
from compiler.errors import InvalidInputError, VerificationError
from compiler.frontend.bundle import Bundle
from compiler.graph.task_graph import ConverterTask, TaskGraph, TimingSpec
from compiler.ir.read import parse_design
from compiler.metrics import TOOL, VERSION
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from compiler.platforms.stored import FILE, store_platform, stored_platform
from compiler.simulator.timing.simulation import StallingRun
from compiler.targets.functions import modules
from compiler.toolchain.hls.csynth import CsynthReport
from compiler.toolchain.reports import parse_report
from compiler.toolchain.timing_spec import replace_timing
from compiler.whole_token import Lengths, least_bytes, positions_of

OnStage = Callable[[str], None]
TENSORS = "tensors.json"  # in tb/: digests of what the network is given
LEAST_BYTES = "least_bytes"  # of a token, of a reply by which designs that choose tokens are measured
DEFAULT_REFERENCE = "PyTorch"  # of bundles and designs that name none


def silent(_stage: str) -> None:
    """Progress that nobody watches."""


README = """# {name}

{model}, {shape}, {precision}, for {board}; v++ is asked for {clock:g} MHz.
{kernels} kernel(s), {tasks} tasks, {converters} layout converters.

| metric | value | unit | fidelity |
|---|---:|---|---|
{metrics}

Area and power: {calibration}.

| file | what it is |
|---|---|
| `design.json` | knobs, platform, metrics, digests |
| `dataflow.json` | tasks with timing specs, streams, converters, memories |
| `ir/` | what is emitted as IR, readable and parsable; with `--every-pass` after each pass too |
| `hls/` | HLS C++, testbench, `hls.cfg`, `run_hls.tcl`, `link.cfg` |
| `params/`, `tb/` | packed weights with a manifest; inputs and {reference}'s results |
| `host/run.py` | pyxrt program that runs the bitstream |

Check it against {reference} (needs g++ only):

    millrace csim .

Build and run it on the board (needs Vitis and XRT):

    cd hls
    vitis-run --mode hls --tcl run_hls.tcl    # 2023.2 and later; vitis_hls -f run_hls.tcl: 2022.2 to 2024.1
    v++ -l -t hw --platform {shell} --config link.cfg *.xo -o ../{name}.xclbin
    python3 ../host/run.py ../{name}.xclbin
"""


def write_testbench_data(bundle: Bundle, design: Path) -> None:
    """The reference's results, the network and digests of what it is given, so that csim needs nothing but the design
    directory.
    """
    folder = design / "tb"
    folder.mkdir(exist_ok=True)
    for name in ("expected.npz", "graph.json"):
        shutil.copyfile(bundle.directory / name, folder / name)
    given, tensors = {source for value in bundle.graph.values for source in value.tensors}, bundle.tensors()
    known = {source: tensor_digest(tensors[source]) for source in sorted(given)}
    (folder / TENSORS).write_text(json.dumps(known, indent=1))


def tensor_digest(tensor: NDArray[Any]) -> str:
    """SHA-256 of a tensor's elements in row-major order: what a memory image must hold, however it is packed."""
    return hashlib.sha256(np.ascontiguousarray(tensor).tobytes()).hexdigest()


def write_description(
    bundle: Bundle,
    knobs: Knobs,
    platform: Platform,
    board: BoardPlan,
    fifo_sizing: list[dict[str, Any]],
    stalling: StallingRun,
    estimated: Estimate,
    design: Path,
) -> None:
    """design.json, dataflow.json and README.md; call it last, for design.json holds the digests of all other files."""
    tasks, reference = board.tasks, bundle.meta.get("reference", DEFAULT_REFERENCE)
    (design / "dataflow.json").write_text(json.dumps({**tasks.to_json(), **board.to_json()}, indent=1))
    store_platform(platform, design)
    description: dict[str, Any] = {
        "name": tasks.name,
        "tool": TOOL,
        "tool_version": VERSION,
        "workload": bundle.workload.to_json(),
        "reference": reference,
        # A result or an input in integers, times its scale, is the number of the network.
        "port_scales": bundle.meta.get("quantised", {}).get("port_scales", {}),
        "platform": platform.name,
        "knobs": knobs.to_json(),
        "metrics": [m.to_json() for m in estimated.metrics],
        "calibration": calibration_note(tasks, platform),
        "flags": [flag.to_json() for flag in impossible(estimated.metrics, platform, _work(tasks, estimated))],
        "violations": [{"resource": v.resource, "demand": v.demand, "bound": v.bound} for v in estimated.violations],
        "fusion": board.fusion.to_json(),
        "placement": board.placement.summary_json(),
        "fifo_sizing": fifo_sizing,
        "stalling": stalling.to_json(),
        **_least(board),
        "digests": digests(design),
    }
    (design / "design.json").write_text(json.dumps(description, indent=1))
    rows = (f"| {m.name} | {m.value:,.6g} | {m.unit} | {m.fidelity} |" for m in estimated.metrics)
    (design / "README.md").write_text(
        README.format(
            name=tasks.name,
            model=bundle.workload.model,
            shape=_shape(bundle),
            reference=reference,
            precision=bundle.workload.precision,
            board=platform.title,
            clock=platform.clock_mhz,
            shell=platform.shell,
            kernels=tasks.kernels,
            tasks=len(tasks.tasks),
            converters=sum(isinstance(t, ConverterTask) for t in tasks.tasks),
            metrics="\n".join(rows),
            calibration=calibration_note(tasks, platform),
        )
    )


def _least(board: BoardPlan) -> dict[str, float]:
    positions = positions_of(board.network)
    return {} if positions is None else {LEAST_BYTES: least_bytes(board.network, Lengths.within(positions).later)}


def _work(tasks: TaskGraph, estimated: Estimate) -> Work:
    return work_of(tasks, next(m.value for m in estimated.metrics if m.name == "hbm_traffic"))


def _shape(bundle: Bundle) -> str:
    """What of the model is run; a network from a file has no phase or length."""
    if "format" in bundle.meta.get("config", {}):
        batch = bundle.workload.batch
        return "the whole network" if batch == 1 else f"the whole network, for up to {batch} inputs a launch"
    return f"{bundle.workload.phase}, length {bundle.workload.length}"


def read_design(directory: Path) -> dict[str, Any]:
    """The content of `design.json`. Raises InvalidInputError where `directory` is not a design directory."""
    try:
        description: Any = json.loads((directory / "design.json").read_text())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InvalidInputError(f"{directory} is not a design directory: it has no design.json") from error
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{directory}/design.json is damaged: {error}; compile the design again") from error
    if not isinstance(description, dict) or not isinstance(cast("dict[str, Any]", description).get("digests"), dict):
        raise InvalidInputError(
            f"{directory}/design.json is damaged: it lacks digests of files; compile the design again"
        )
    return cast("dict[str, Any]", description)


def last_stage(directory: Path) -> Path:
    """The IR after the last pass."""
    stages = sorted((directory / "ir").glob("[0-9][0-9]-*.mlir"))
    if not stages:
        raise InvalidInputError(f"{directory}/ir is empty; compile the design again")
    return stages[-1]


def stored_tasks(directory: Path, platform: Platform) -> TaskGraph:
    """The accelerator as the IR after the last pass has it. Raises InvalidInputError where that is damaged."""
    file = last_stage(directory)
    try:
        return task_graph(parse_design(file.read_text(), platform))
    except (OSError, VerificationError) as error:
        raise InvalidInputError(f"{file} is damaged: {error}; compile the design again") from error


# What `digests` leaves alone: it holds the digests, is for people, is made by running the design.
_NOT_DIGESTED = ("design.json", "README.md", "csim", "out", "simulation.json")
# Files that would take part without being listed: C simulation builds all of hls/, reads the last stage of ir/, and a
# board's own file.
_SOURCES = ("hls/*.cpp", "hls/*.h", "ir/*.mlir", FILE)


def reported_timing(directory: Path, reports: Sequence[Path]) -> dict[str, TimingSpec]:
    """The timing of the tasks that csynth's reports of this design know, where it is not the planned one.

    Raises InvalidInputError for a file that is no csynth report, ReportError for one of another design.
    """
    read = {file: parse_report(file) for file in reports}
    planned = stored_tasks(directory, stored_platform(directory, read_design(directory)["platform"]))
    tasks, names = planned, modules(planned)
    for file, report in read.items():
        if not isinstance(report, CsynthReport):
            raise InvalidInputError(f"{file} is no csynth report; give the csynth.xml of a kernel of this design")
        tasks = replace_timing(tasks, report, names)
    return {t.name: t.timing for t in tasks.tasks if t.timing != planned.task[t.name].timing}


def digests(design: Path) -> dict[str, str]:
    """SHA-256 of every file of the design, by its path in the directory."""
    files = (f for f in sorted(design.rglob("*")) if f.is_file())
    paths = ((f.relative_to(design), f) for f in files)
    return {str(path): _sha256(f) for path, f in paths if path.parts[0] not in _NOT_DIGESTED}


def edited_files(directory: Path) -> tuple[str, ...]:
    """Files that were edited, removed or added since the design was compiled, by their paths in `directory`."""
    expected: dict[str, str] = read_design(directory)["digests"]
    changed = {path for path, digest in expected.items() if _digest(directory / path) != digest}
    sources = (str(f.relative_to(directory)) for pattern in _SOURCES for f in directory.glob(pattern))
    return tuple(sorted(changed | {path for path in sources if path not in expected}))


def refuse_edited(directory: Path, allow_edited: bool) -> tuple[str, ...]:
    """The files that are not as they were compiled; raises InvalidInputError that names the first, unless allowed."""
    edited = edited_files(directory)
    if not edited or allow_edited:
        return edited
    first, *others = edited
    more = f" (and {len(others)} more)" if others else ""
    raise InvalidInputError(
        f"{directory / first}{more} was edited, removed or added after the design was compiled; compile it again, "
        "or simulate it as it is with --allow-edited"
    )


def _digest(file: Path) -> str | None:
    try:
        return _sha256(file)
    except OSError:
        return None


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
