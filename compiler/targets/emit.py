"""The folders of a design directory that hold code and packed data: hls/, params/, tb/, host/ (design section 8)."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from compiler import host
from compiler.analysis.placement.placement import Placement
from compiler.graph.abreast import copy_name
from compiler.graph.linalg_graph import LinalgGraph, Output, Value
from compiler.graph.task_graph import CONTROL, Joint, RomTask, TaskGraph
from compiler.platforms.platform import Platform
from compiler.targets import floorplan, hls_code, hls_config, link_config
from compiler.targets.constants import weights_header
from compiler.targets.expected import write_expected
from compiler.targets.images import dma_to_json, join, layout_to_json, pack
from compiler.targets.interface import Image, Interface, plan_interface
from compiler.targets.tensors import Tensors, tensor_of
from compiler.targets.testbench import tb_source

HOST_PROGRAMS = ("run.py", "generate.py")
SUPPORT_HEADERS = (
    "stream_pack.h",
    "wide_token.h",
    "packed_token.h",
    "reduce_tree.h",
    "mul2.h",
    "memory_image.h",
    "compare_image.h",
)
_PORT_BITS = re.compile(r"PORT_BITS = \d+")  # where a support header says the width of the board's ports


@dataclass(frozen=True)
class NetworkData:
    """What a network's tensors hold, by `Value.source`; what PyTorch makes of them, by `Output.name`; how far a result
    may be off, relative to its largest magnitude.
    """

    tensors: Tensors
    expected: Tensors
    tolerance: float


def emit_design(
    tasks: TaskGraph,
    graph: LinalgGraph,
    platform: Platform,
    data: NetworkData,
    out: Path,
    placement: Placement | None = None,
) -> None:
    """Write hls/, params/, tb/ and host/ of the design into `out`; with a placement, the dies for the link too.

    Raises UnsupportedError that names the task where an operation has no C++, InvalidInputError where a tensor is
    missing or has another size.
    """
    interface = plan_interface(tasks, graph)
    emit_hls(tasks, interface, platform, out / "hls", data.tolerance)
    if any(isinstance(task, RomTask) and task.filled is None for task in tasks.tasks):
        (out / "hls" / hls_code.weights_file(interface)).write_text(weights_header(tasks, graph, data.tensors))
    emit_link(interface, platform, out / "hls", placement)
    write_images(interface, graph.outputs, platform, data.tensors, out, controlled=tasks.control is not None)
    write_expected(interface, graph, data.tensors, data.expected, out)
    emit_host(out / "host")


def emit_hls(tasks: TaskGraph, interface: Interface, platform: Platform, folder: Path, tolerance: float) -> None:
    """The C++ and the configuration of the tools; `tolerance` is what the testbench allows."""
    folder.mkdir(parents=True, exist_ok=True)
    name = interface.name
    (folder / f"{name}_tasks.h").write_text(hls_code.tasks_header(tasks, interface))
    (folder / f"{name}_tasks.cpp").write_text(hls_code.tasks_source(tasks, interface))
    (folder / f"{name}_kernels.h").write_text(hls_code.kernels_header(interface))
    for number, kernel in enumerate(interface.kernels):
        (folder / f"{kernel.name}.cpp").write_text(hls_code.kernel_source(kernel, tasks, interface, platform))
        config = "hls.cfg" if number == 0 else f"hls_k{number}.cfg"
        (folder / config).write_text(hls_config.hls_cfg(interface, kernel, platform))
    (folder / "tb.cpp").write_text(tb_source(interface, tolerance))
    (folder / "run_hls.tcl").write_text(hls_config.run_hls_tcl(interface, platform))
    for header in SUPPORT_HEADERS:
        text = files("compiler.targets").joinpath("support", header).read_text()
        (folder / header).write_text(_PORT_BITS.sub(f"PORT_BITS = {platform.hbm.port_bits}", text))


def emit_link(interface: Interface, platform: Platform, folder: Path, placement: Placement | None) -> None:
    """link.cfg, and floorplan.tcl where a kernel lies on several dies."""
    (folder / "link.cfg").write_text(link_config.link_cfg(interface, platform, placement))
    if placement is not None and floorplan.spread_kernels(interface, placement):
        (folder / floorplan.FILE).write_text(floorplan.floorplan_tcl(interface, placement))


def emit_host(folder: Path) -> None:
    """The programs for the board, and the package that does the work; what they run is in params/manifest.json."""
    (folder / "runtime").mkdir(parents=True, exist_ok=True)
    for name in HOST_PROGRAMS:
        _copy_support(name, folder)
    with as_file(files(host)) as package:
        for module in sorted(package.glob("*.py")):
            shutil.copyfile(module, folder / "runtime" / module.name)


def _copy_support(name: str, folder: Path) -> None:
    with as_file(files("compiler.targets").joinpath("support", name)) as source:
        shutil.copyfile(source, folder / name)


def write_images(
    interface: Interface,
    results: Sequence[Output],
    platform: Platform,
    tensors: Tensors,
    out: Path,
    *,
    controlled: bool = False,
) -> None:
    """Packed parameters and inputs, scalars, and the manifest: these, the kernels' arguments, `results`."""
    for folder in ("params", "tb"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    placed = link_config.hbm_channels(interface, platform)
    images = [_write_image(image, tensors, placed, out) for image in interface.images]
    scalars = [tensor_of(s, tensors) for s in interface.scalars]
    (out / "params" / "scalars.bin").write_bytes(b"".join(s.tobytes() for s in scalars))
    made = {image.value.name: image.name for image in interface.images if image.role == "output"}
    manifest = {
        "name": interface.name,
        "kernels": [
            {
                "name": kernel.name,
                "buffers": [{"port": p.name, "image": p.image.name, "channel": p.channel} for p in kernel.ports],
                "scalars": [s.name for s in kernel.scalars],
                "arguments": [a.name for a in kernel.arguments],
                "tasks": [
                    *([{"name": CONTROL, "function": CONTROL}] if controlled else []),
                    *(
                        {"name": copy_name(task.name, copy), "function": function}
                        for (task, copy), function in zip(kernel.calls, kernel.functions, strict=True)
                    ),
                ],
            }
            for kernel in interface.kernels
        ],
        "images": images,
        "memories": [image.name for image in interface.images if image.fills],
        "scalars": [
            {"value": s.name, "source": s.source, "dtype": s.dtype, "content": a.item()}
            for s, a in zip(interface.scalars, scalars, strict=True)
        ],
        "arguments": [asdict(argument) for argument in interface.arguments],
        "results": [
            {"name": r.name, "image": made[r.value], "permutation": list(r.permutation), "shape": list(r.shape)}
            | ({} if r.layer is None else {"layer": r.layer})
            | ({} if r.row is None else {"rows": r.row.count})
            for r in results
            if r.value in made
        ],
    }
    (out / "params" / "manifest.json").write_text(json.dumps(manifest, indent=1))


def _write_image(image: Image, tensors: Tensors, placed: Mapping[tuple[str, int], int], out: Path) -> dict[str, Any]:
    """The image's entry in the manifest; writes its files where the content is known."""
    channels: list[dict[str, Any]] = [
        {"hbm": placed[image.name, c]} | ({"file": image.file(c)} if image.role != "intermediate" else {})
        for c in range(image.dma.channels)
    ]
    if image.is_given:
        whole = join([tensor_of(value, tensors) for value in image.values], image.dma.joint)
        for entry, content in zip(channels, pack(whole, image.dma), strict=True):
            (out / entry["file"]).write_bytes(content)
            entry["sha256"] = hashlib.sha256(content).hexdigest()
    return {
        "name": image.name,
        "role": image.role,
        **dma_to_json(image.dma),
        **_value_to_json(image.value),
        **({"joint": _joint_to_json(image, image.dma.joint)} if image.dma.joint is not None else {}),
        "bytes": image.dma.channel_bytes,
        "channel_images": channels,
    }


def _value_to_json(value: Value) -> dict[str, Any]:
    return {
        "source": value.source,
        **({"sources": list(value.sources)} if value.sources else {}),
        "shape": list(value.true_shape),
        "padded_shape": list(value.shape),
    }


def _joint_to_json(image: Image, joint: Joint) -> dict[str, Any]:
    """The values that lie in an image: what of its entry is another's for each of them."""
    parts: list[dict[str, Any]] = [
        {"value": value.name, **layout_to_json(part.layout), **_value_to_json(value)}
        for value, part in zip(image.parts, (*joint.parts, *joint.behind), strict=True)
    ]
    if joint.packed:
        parts = [part | dma_to_json(dma) for part, dma in zip(parts, joint.packed, strict=True)]
    found = {"rounds": joint.rounds, "parts": parts, **({"behind": len(joint.behind)} if joint.behind else {})}
    found |= {"packed": True} if joint.packed else {}
    return found | ({"dealt": list(joint.dealt)} if joint.dealt is not None else {})
