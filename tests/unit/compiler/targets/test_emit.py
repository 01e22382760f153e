"""Emitted designs: built with g++, run, compared with numpy; and what the other files of a design say."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from networks import NETWORKS, Network, body

from compiler.analysis import resident
from compiler.errors import InvalidInputError, UnsupportedError
from compiler.graph.task_graph import ComputeTask, RomTask, TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.execute import run
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.images import unpack
from compiler.targets.interface import Interface, plan_interface
from compiler.targets.link_config import hbm_channels, link_cfg

U55C = load_platform("u55c")
SPLIT = Knobs(fusion_budget=0, default_tile_size=8, overall_unroll=64, hbm_channels=4, stream_width=128)

DEEP = Knobs(
    order="reduction-outer",
    default_tile_size=48,
    overall_unroll=1024,
    stream_width=2048,
    hbm_channels=4,
    fifo="whole",
    overrides=(TaskOverride("op_h", unroll=1),),
)


def data_of(network: Network) -> NetworkData:
    return NetworkData(network.tensors, network.expected, 1e-5)


def emitted(network: Network, knobs: Knobs, out: Path) -> tuple[TaskGraph, Interface]:
    graph = network.graph()
    tasks = planned_tasks(graph, knobs, U55C)
    tasks.verify()
    emit_design(tasks, graph, U55C, data_of(network), out)
    return tasks, plan_interface(tasks, graph)


def assert_computes(network: Network, interface: Interface, out: Path) -> None:
    """The design in `out`, built and run."""
    program = build(out / "hls", out / "csim", calls_of(out))
    run(program, out, arguments=[str(out)])
    outputs = {i.value.name: i for i in interface.images if i.role == "output"}
    assert set(outputs) == set(network.expected)
    for value, expected in network.expected.items():
        image = outputs[value]
        got = unpack([(out / image.file(c)).read_bytes() for c in range(image.dma.channels)], image.dma)
        if expected.dtype.kind == "i":
            assert np.array_equal(got, expected)
        else:
            np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp", "quantised"])
def test_what_is_read_again_on_the_chip_is_what_was_loaded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "MOST_BYTES", 64)
    network, knobs = NETWORKS[name](), Knobs(default_tile_size=2, overall_unroll=16, weights="resident")
    tasks, interface = emitted(network, knobs, tmp_path)
    kept = [task for task in tasks.tasks if isinstance(task, RomTask) and task.filled is not None]
    assert kept
    assert any(task.streamed.rereads > 1 for task in kept)
    assert "static " in (tmp_path / "hls" / f"{interface.name}_tasks.cpp").read_text()
    assert_computes(network, interface, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        pytest.param("attention", SPLIT, id="several kernels, routing"),
        pytest.param(
            "quantised",
            Knobs(
                order="reduction-outer", default_tile_size=64, overall_unroll=2048, stream_width=2048, multiplier="dsp"
            ),
            id="integers, tokens wider than a word",
        ),
        pytest.param(
            "quantised", Knobs(multiplier="dsp_packed", weights="resident"), id="two products a DSP, constants"
        ),
        pytest.param("argmax", Knobs(max_padding=0), id="the first of the largest"),
        pytest.param("softmax", Knobs(default_tile_size=4, overall_unroll=1), id="single elements, masks"),
        pytest.param("layer_norm", Knobs(default_tile_size=3, overall_unroll=64), id="scalars, odd tiles"),
        pytest.param("mlp", replace(DEEP, weights="resident"), id="accumulators in memory, several channels"),
    ],
)
def test_emitted_code_computes_the_network(name: str, knobs: Knobs, tmp_path: Path) -> None:
    network = NETWORKS[name]()
    _, interface = emitted(network, knobs, tmp_path)
    assert_computes(network, interface, tmp_path)


def test_the_manifest_describes_every_image(tmp_path: Path) -> None:
    network = NETWORKS["attention"]()
    _, interface = emitted(network, SPLIT, tmp_path)
    manifest = json.loads((tmp_path / "params" / "manifest.json").read_text())
    images = {i["name"]: i for i in manifest["images"]}
    assert {i["role"] for i in images.values()} == {"param", "input", "output", "intermediate"}
    for image in images.values():
        for channel in image["channel_images"]:
            if image["role"] in {"param", "input"}:
                assert (tmp_path / channel["file"]).stat().st_size == image["bytes"]
    weights = images["w"]
    assert weights["source"] == "src.w"
    assert weights["layout"].startswith("itensor<")
    assert [len(k["buffers"]) for k in manifest["kernels"]] == [len(k.ports) for k in interface.kernels]


def test_ports_share_hbm_channels_evenly_heaviest_first(tmp_path: Path) -> None:
    _, interface = emitted(NETWORKS["attention"](), SPLIT, tmp_path)
    placed = hbm_channels(interface, U55C)
    heaviest = max((p for k in interface.kernels for p in k.ports), key=lambda p: p.traffic)
    assert placed[heaviest.image.name, heaviest.channel] == 0
    assert len(set(placed.values())) == min(len(placed), U55C.hbm.channels)
    text = link_cfg(interface, U55C)
    for kernel in interface.kernels:
        assert f"nk={kernel.name}:1:{kernel.unit}" in text
        for port in kernel.ports:  # one buffer passes between two kernels: both name its channel
            channel = placed[port.image.name, port.channel]
            assert f"sp={kernel.unit}.{port.name}:HBM[{channel}]\n" in text


def test_names_of_kernels_fit_an_xclbin() -> None:
    """`kernel:unit` has 63 characters; names that begin alike stay apart."""
    network = NETWORKS["layer_norm"]()
    tasks = planned_tasks(network.graph(), Knobs(), U55C)
    long = [replace(tasks, name=f"{'a-network-' * 8}{end}") for end in ("one", "two")]
    for design in (tasks, *long):
        for kernel in plan_interface(design, network.graph()).kernels:
            assert len(f"{kernel.name}:{kernel.unit}") < 64
            assert kernel.name.endswith(f"_{kernel.unit.removesuffix('_1')}")
    first, second = (plan_interface(design, network.graph()).name for design in long)
    assert first != second
    assert plan_interface(tasks, network.graph()).name == "layer_norm"


def test_an_unknown_scalar_operation_names_its_task(tmp_path: Path) -> None:
    network = Network("odd")
    network.tensor("x", np.zeros((4,), np.float32), role="input")
    network.generic("y", (4,), [("x", "a")], "a", body(["f32"], ("math.absf", (0,))))
    network.result("y", np.zeros(4))
    graph = network.graph()
    tasks = planned_tasks(graph, Knobs(), U55C)
    unknown = body(["f32"], ("math.fpowi", (0,)))
    odd = [replace(t, op=replace(t.op, body=unknown)) if isinstance(t, ComputeTask) else t for t in tasks.tasks]
    with pytest.raises(UnsupportedError, match=r"task op_y: no C\+\+ for scalar operation math\.fpowi"):
        emit_design(TaskGraph("odd", 1, tuple(odd), tasks.streams), graph, U55C, data_of(network), tmp_path)


def test_a_missing_or_misshapen_tensor_is_named(tmp_path: Path) -> None:
    network = NETWORKS["mlp"]()
    weights = network.tensors.pop("src.w")
    with pytest.raises(InvalidInputError, match=r"'src\.w' of value w is missing"):
        emitted(network, Knobs(), tmp_path)
    network.tensors["src.w"] = weights[:5]
    with pytest.raises(InvalidInputError, match=r"'src\.w' has shape \[5, 48\], value w is \[24, 48\]"):
        emitted(network, Knobs(), tmp_path)
