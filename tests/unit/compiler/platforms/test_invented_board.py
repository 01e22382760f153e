"""A board is its TOML file: one that there is not is compiled for, proved, simulated, placed and run, by that alone."""

import json
import re
from math import prod
from pathlib import Path
from typing import Any

import pytest
from invented_board import INVENTED
from small_graphs import mlp

from compiler.analysis.memory import buffer_cost, fifo_cost
from compiler.frontend.bundle import load_bundle
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.host.accelerator import Accelerator, program
from compiler.host.design import load_design
from compiler.options import Knobs, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.platforms.stored import platform_of_design
from compiler.proof.csim import csim
from compiler.proof.launches import Witness, wrong_launch_of_files
from compiler.simulator.board import pyxrt
from compiler.simulator.board.build import build_board
from compiler.simulator.timing.simulate import simulate_directory

pytestmark = pytest.mark.slow
BOARD = load_platform(INVENTED)
# Wide enough for tokens of several words, and for more than one die.
KNOBS = Knobs(default_tile_size=64, overall_unroll=2048, hbm_channels=8, stream_width=1024)


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A block of GPT-2, small."""
    from compiler.frontend.convert import convert

    folder = tmp_path_factory.mktemp("invented")
    bundle, out = folder / "bundle", folder / "design"
    bundle.mkdir()
    config = Gpt2Config(n_embd=64, n_head=4, n_layer=2, n_inner=256, n_positions=64)
    convert(ModelSource("tiny", config), Workload("tiny", "decode", 8, "w4a8"), bundle, lambda _: None)
    estimate = compile_design(load_bundle(bundle), KNOBS, BOARD, out)
    assert estimate.feasible, estimate.violations
    return out


def read(design: Path, name: str) -> Any:
    return json.loads((design / name).read_text())


def emitted(design: Path, *patterns: str) -> str:
    return "".join(file.read_text() for pattern in patterns for file in sorted((design / "hls").glob(pattern)))


def test_its_code_gives_what_pytorch_gives_also_through_the_host(design: Path) -> None:
    verdict = csim(design)
    assert (verdict.passed, verdict.unchecked, len(verdict.outputs)) == (True, (), 3), verdict.message
    build_board(design)
    board, device = Witness(), pyxrt.device(0)
    accelerator = Accelerator(board, device, load_design(design), program(board, device, design))
    accelerator.load_files()
    accelerator.start()
    assert wrong_launch_of_files(board.launches, accelerator.design) is None
    results = [image for image in accelerator.design.images.values() if image.role == "output"]
    assert results
    for image in results:
        assert accelerator.content(image) == [(design / file).read_bytes() for file in image.files]
    for size, channel in [((64 << 20) + 1, 0), (1, 12)]:
        with pytest.raises(RuntimeError, match=f"memory group {channel}: Cannot allocate memory"):
            pyxrt.bo(device, size, pyxrt.bo.normal, channel)


def test_it_is_simulated_as_the_board_that_it_carries(design: Path) -> None:
    assert platform_of_design(design) == BOARD
    simulation = simulate_directory(design)
    assert simulation.deadlock is None
    assert list(simulation.kernels) == [kernel["cycles"] for kernel in read(design, "design.json")["fifo_sizing"]]


def test_it_lies_on_both_dies_and_on_channels_that_there_are(design: Path) -> None:
    placement = read(design, "dataflow.json")["placement"]
    assert set(placement["slr"].values()) == set(placement["use"]) == {"LOWER", "UPPER"}
    assert set(re.findall(r"^place (\w+)", emitted(design, "floorplan.tcl"), re.MULTILINE)) == {"LOWER", "UPPER"}
    channels = re.findall(r"^sp=.*:HBM\[(\d+)\]$", emitted(design, "link.cfg"), re.MULTILINE)
    assert {int(channel) for channel in channels} == set(range(12))


def test_its_ports_and_their_words_are_narrow(design: Path) -> None:
    code = emitted(design, "*.cpp", "*.h")
    assert set(re.findall(r"(\w+<\d+>)\* ", code)) == {"ap_uint<256>"}
    assert set(re.findall(r"ap_uint<\d+> word\[", code)) == {"ap_uint<256> word["}
    assert set(re.findall(r"PORT_BITS = (\d+)", code)) == {"256"}
    assert set(re.findall(r"max_\w+_burst_length=(\d+)", code)) == {"32"}
    assert "hls::vector<ap_uint<256>, " in code, "a packed token wider than an ap_uint is of words that a port takes"
    words = {
        task["dma"]["value"]: task["dma"]["words"] for task in read(design, "dataflow.json")["tasks"] if task["dma"]
    }
    images = read(design, "params/manifest.json")["images"]
    assert {i["value"]: (i["port_bits"], i["bytes"]) for i in images} == {v: (256, 32 * n) for v, n in words.items()}


def test_what_it_moves_is_counted_by_its_ports(design: Path) -> None:
    dataflow = read(design, "dataflow.json")
    (traffic,) = (m["value"] for m in read(design, "design.json")["metrics"] if m["name"] == "hbm_traffic")
    loads = [(t["dma"], prod(t["timing"]["trips"])) for t in dataflow["tasks"] if t["dma"]]
    assert traffic == sum(-(-n // dma["tokens_per_word"]) * dma["channels"] * 32 for dma, n in loads)


def test_a_new_row_joins_its_cache_as_it_lies(design: Path) -> None:
    carries = planned_tasks(load_bundle(design.with_name("bundle")).graph, Knobs(), BOARD).carries
    assert [carry.relayout for carry in carries] == [False, False, False]


def test_weights_are_no_wider_than_their_ports() -> None:
    knobs = Knobs(default_tile_size=256, overall_unroll=1 << 14, hbm_channels=8, stream_width=1024)
    tasks = planned_tasks(mlp(1, 256, 1024), knobs, BOARD)
    assert max(stream.width for stream in tasks.streams) == 8 * 256


def test_its_memories_are_those_of_the_part(design: Path) -> None:
    dataflow, memories = read(design, "dataflow.json"), BOARD.memories
    kinds = {s["kind"] for s in dataflow["streams"]} | {b["kind"] for t in dataflow["tasks"] for b in t["buffers"]}
    assert kinds <= {"registers", "lutram", "bram"}
    assert buffer_cost(72, 4096, 1, memories) == ("bram", 0, 15.0, 0), "which is one URAM where there are any"
    assert buffer_cost(64, 33, 1, memories).kind == "bram", "a LUT holds 32 bits"
    assert fifo_cost(48, 24, memories).lut == 2 * 48, "a shift register has 16"
    assert BOARD.on_chip_bytes == 1500 * 2560
