"""Memory mapping rules against real csynth tables and geometry."""

import csv
from pathlib import Path

import pytest

from compiler.analysis.memory import buffer_cost, csynth_fifo_kind, fifo_cost, fifo_of
from compiler.platforms.platform import load_platform

MEMORIES = load_platform("u55c").memories
TABLE = Path(__file__).parents[5] / "shared/fixtures/vitis/derived/hls_fifo_table.csv"


@pytest.mark.parametrize(
    ("width", "depth", "kind"),
    [(32, 2, "registers"), (32, 32, "registers"), (256, 16, "registers"), (512, 32, "registers"), (512, 33, "bram"),
         (64, 128, "lutram"),
     (32, 1024, "bram")],
)  # fmt: skip
def test_fifo_kind(width: int, depth: int, kind: str):
    assert fifo_cost(width, depth, MEMORIES).kind == kind


@pytest.mark.parametrize("width", [65, 512, 8192])
def test_shallow_fifos_of_wide_tokens_are_shift_registers(width: int):
    """Two of 16 words share a LUT (UG574); csynth by itself takes LUTRAM beyond 1024 bits (UG1399,
    `auto_srl_max_bits`), of which it counts two LUTs a bit.
    """
    assert csynth_fifo_kind(width, 16) == "lutram"
    assert fifo_cost(width, 16, MEMORIES).lut == -(-width // 2)
    assert fifo_of("lutram", width, 16, MEMORIES).lut == 2 * width


def test_block_ram_counts_depth_which_csynth_ignores():
    assert fifo_cost(32, 1024, MEMORIES).bram36 == 1.0
    assert fifo_cost(32, 2048, MEMORIES).bram36 == 2.0


def test_deep_and_wide_buffers_go_to_uram():
    cost = buffer_cost(72, 4096, 1, MEMORIES)
    assert (cost.kind, cost.uram) == ("uram", 1)


@pytest.mark.skipif(not TABLE.exists(), reason="the shared fixtures are not beside this checkout")
def test_fifo_kinds_agree_with_csynth():
    """What it takes by itself; 2019.2 mapped otherwise."""
    kinds = {"SRL": "registers", "LUTRAM": "lutram", "BRAM": "bram"}
    rows = [r for r in csv.DictReader(TABLE.open()) if r["tool"] != "2019.2"]
    assert len(rows) > 100
    for row in rows:
        assert csynth_fifo_kind(int(row["width"]), int(row["depth"])) == kinds[row["impl_inferred"]], row
