"""Memory mapping rules against real csynth tables and geometry."""

import csv
from pathlib import Path

import pytest

from compiler.analysis.memory import buffer_cost, fifo_cost
from compiler.platforms.platform import load_platform

MEMORIES = load_platform("u55c").memories
TABLE = Path(__file__).parents[5] / "shared/fixtures/vitis/derived/hls_fifo_table.csv"


@pytest.mark.parametrize(
    ("width", "depth", "kind"),
    [(32, 2, "registers"), (32, 32, "registers"), (256, 16, "lutram"), (64, 128, "lutram"), (32, 1024, "bram")],
)
def test_fifo_kind(width: int, depth: int, kind: str):
    assert fifo_cost(width, depth, MEMORIES).kind == kind


def test_block_ram_counts_depth_which_csynth_ignores():
    assert fifo_cost(32, 1024, MEMORIES).bram36 == 1.0
    assert fifo_cost(32, 2048, MEMORIES).bram36 == 2.0


def test_deep_and_wide_buffers_go_to_uram():
    cost = buffer_cost(72, 4096, 1, MEMORIES)
    assert (cost.kind, cost.uram) == ("uram", 1)


@pytest.mark.skipif(not TABLE.exists(), reason="the shared fixtures are not beside this checkout")
def test_fifo_kinds_agree_with_csynth():
    """URAM is ours to request (`bind_storage`), where csynth takes block RAM by itself; 2019.2 mapped otherwise."""
    kinds = {"SRL": {"registers"}, "LUTRAM": {"lutram"}, "BRAM": {"bram", "uram"}}
    rows = [r for r in csv.DictReader(TABLE.open()) if r["tool"] != "2019.2"]
    assert len(rows) > 100
    for row in rows:
        assert fifo_cost(int(row["width"]), int(row["depth"]), MEMORIES).kind in kinds[row["impl_inferred"]], row
