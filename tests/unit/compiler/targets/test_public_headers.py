"""Emitted C++ with AMD's public headers: every construct parses, and what runs gives the bits that our headers give."""

import re
import subprocess
from pathlib import Path

import pytest
from networks import NETWORKS
from public_hls import build_public, check_syntax

from compiler.frontend.bundle import load_bundle
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.options import Knobs, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.execute import run
from compiler.targets import tokens
from compiler.targets.emit import NetworkData, emit_design

pytestmark = pytest.mark.slow
U55C = load_platform("u55c")

# The designs of tests/golden/test_emission.py.
PLAIN = Knobs()
OUTER = Knobs(order="reduction-outer", default_tile_size=8, overall_unroll=64, multiplier="dsp")
SINGLE = Knobs(default_tile_size=256, overall_unroll=1)
SPLIT = Knobs(fusion_budget=0, default_tile_size=8, overall_unroll=16, hbm_channels=2)
MEMORY = Knobs(default_tile_size=48, overall_unroll=1, order="reduction-outer")
PACKED = Knobs(multiplier="dsp_packed")
WIDE = Knobs(default_tile_size=64, overall_unroll=2048, stream_width=2048, hbm_channels=2)
GOLDEN = {
    **{f"{name}, plain": (name, PLAIN) for name in NETWORKS},
    "quantised, dsp": ("quantised", OUTER),
    "quantised, two products a dsp": ("quantised", PACKED),
    "quantised, wide": ("quantised", WIDE),
    "mlp, single": ("mlp", SINGLE),
    "mlp, memory": ("mlp", MEMORY),
    "mlp, wide": ("mlp", WIDE),
    "layer_norm, single": ("layer_norm", SINGLE),
    "layer_norm, split": ("layer_norm", SPLIT),
}


def emit(name: str, knobs: Knobs, folder: Path) -> None:
    """Write the design."""
    network = NETWORKS[name]()
    graph = network.graph()
    tasks = planned_tasks(graph, knobs, U55C)
    emit_design(tasks, graph, U55C, NetworkData(network.tensors, network.expected, 1e-5), folder)


@pytest.mark.parametrize("case", GOLDEN)
def test_every_golden_design_parses(case: str, tmp_path: Path) -> None:
    emit(*GOLDEN[case], tmp_path)
    check_syntax(tmp_path / "hls")


@pytest.mark.parametrize(
    ("name", "knobs"),
    [("quantised", PACKED), ("quantised", WIDE), ("softmax", SINGLE)],
    ids=["integers", "tokens wider than a word", "masks"],
)
def test_the_bits_are_those_of_our_headers(name: str, knobs: Knobs, tmp_path: Path) -> None:
    emit(name, knobs, tmp_path)
    ours = build(tmp_path / "hls", tmp_path / "csim", calls_of(tmp_path))
    run(ours, tmp_path, arguments=[str(tmp_path)])
    program = build_public(tmp_path / "hls", tmp_path / "public")
    finished = subprocess.run([program, tmp_path, tmp_path / "out_public"], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "WARNING" not in finished.stdout  # no stream was read while empty, none has tokens left
    results = sorted(f.name for f in (tmp_path / "out").iterdir())
    assert results
    for result in results:
        assert (tmp_path / "out_public" / result).read_bytes() == (tmp_path / "out" / result).read_bytes()


def test_a_whole_block_gives_what_pytorch_gives(tmp_path: Path) -> None:
    from compiler.frontend.convert import convert

    config = Gpt2Config(n_embd=64, n_head=4, n_layer=2, n_inner=256, n_positions=64)
    bundle, design = tmp_path / "bundle", tmp_path / "design"
    bundle.mkdir()
    convert(ModelSource("tiny", config), Workload("tiny", "decode", 8, "w4a8"), bundle, lambda _: None)
    compile_design(load_bundle(bundle), PACKED, U55C, design)
    check_syntax(design / "hls")
    program = build_public(design / "hls", tmp_path / "public")
    finished = subprocess.run([program, design], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.count("passed; off by") == 3  # the hidden state, and the new row of each cache


def test_whole_replies_parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of rows in turns, ports whose bursts are asked for by hand, tokens in parts."""
    from compiler.frontend.convert import convert

    monkeypatch.setattr(tokens, "MAX_FIFO_BITS", 512)
    config = Gpt2Config(n_embd=64, n_head=4, n_layer=2, n_inner=256, n_positions=64, vocab_size=90)
    knobs = Knobs(
        default_tile_size=64,
        overall_unroll=512,
        stream_width=2048,
        engines="shared",
        loads="joint",
        multiplier="dsp_packed",
        rows=4,
        slices=2,
    )
    bundle, design = tmp_path / "bundle", tmp_path / "design"
    bundle.mkdir()
    convert(ModelSource("tiny", config), Workload("tiny", "token", 31, "w4a8kv8", layers=2), bundle, lambda _: None)
    compile_design(load_bundle(bundle), knobs, U55C, design)
    (source,) = (design / "hls").glob("*_tasks.cpp")
    text = source.read_text()
    assert "burst_maxi" in text
    assert "_part1" in text
    assert "[own].read()" in text
    (top,) = (design / "hls").glob("*_k0.cpp")
    ports = [line for line in top.read_text().splitlines() if "m_axi" in line and "bundle=gmem_engine0" in line]
    assert ports
    assert all(line.endswith(" latency=0") for line in ports)
    load = text.partition("void load_engine0_in1(")[2].partition("\n}\n")[0]
    first, *turns = re.findall(r"read_request\(([^;]*)\);|\b(memory0\.read)\(\)", load)
    assert first == ("0, 96", "")
    of_rows, of_phase, of_layer, behind = turns[::2]
    assert of_rows[0] == "row + 4 < rows ? round * 256 : round * 256 + 96, row + 4 < rows ? 96 : 32"
    assert of_phase[0] == "row + 4 < rows ? round * 256 + 96 : round * 256 + 128, row + 4 < rows ? 32 : 128"
    assert "round < 1 ? (round + 1) * 256 : 512" in of_layer[0]
    assert "round < 1 ? 96 : told[0] * 48 + 48" in of_layer[0]
    assert behind[0] == "row + 1 < rows ? 512 : 0, row + 1 < rows ? told[row + 1] * 48 + 48 : 0"
    assert turns[1::2] == [("", "memory0.read")] * 4
    check_syntax(design / "hls")
