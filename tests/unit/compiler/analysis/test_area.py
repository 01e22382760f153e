"""The area model against what csynth reports: FIFOs, m_axi adapters, operator cores."""

import csv

import pytest
from fixtures import vitis_fixture

from compiler.analysis.area import Shape, counter_bits, fifo_logic, operator_logic, port_memory, task_logic
from compiler.analysis.memory import csynth_fifo_kind
from compiler.calibration.cores import core_area
from compiler.platforms.platform import Operator, load_platform

U55C = load_platform("u55c")


@pytest.mark.parametrize(
    ("width", "depth", "ff"),
    [(32, 2, 68), (512, 2, 1028), (32, 16, 7), (32, 64, 118), (256, 16, 787), (32, 1024, 95), (512, 1024, 1056)],
)
def test_fifo_flip_flops(width: int, depth: int, ff: int):
    """FF of the FIFO tables of csynth 2022.1 to 2023.2."""
    found = fifo_logic(csynth_fifo_kind(width, depth), width, depth, U55C).ff
    assert found == pytest.approx(ff, rel=0.07, abs=2)


@pytest.mark.parametrize(
    ("fifos", "lut"),
    [
        ([(32, 8192)] * 18, 1404),  # Stream-HLS MHSA
        ([(32, 3), (32, 3), (64, 3), *[(512, 1024)] * 4], 2322),  # Prometheus gemm
        ([(48, 1024), (13, 3), (64, 4), (160, 1)], 433),  # hls4ml CNN
        ([(64, 4)], 42),  # hls4ml DNN
        ([(64, 2), (16, 3), (9, 64), (9, 64), (33, 64), (33, 64)], 554),  # dat480
    ],
)
def test_fifo_luts_of_whole_reports(fifos: list[tuple[int, int]], lut: int):
    """LUT of the FIFO row of csynth's summaries."""
    found = 0.0
    for width, depth in fifos:
        found += fifo_logic(csynth_fifo_kind(width, depth), width, depth, U55C).lut
    assert found == pytest.approx(lut, rel=0.02)


def test_every_fifo_of_the_table():
    rows = [r for r in csv.DictReader(vitis_fixture("derived/hls_fifo_table.csv").open()) if r["tool"] != "2019.2"]
    assert len(rows) > 200
    for row in rows:
        width, depth = int(row["width"]), int(row["depth"])
        found = fifo_logic(csynth_fifo_kind(width, depth), width, depth, U55C).ff
        assert found == pytest.approx(float(row["FF"]), rel=0.1, abs=5), row


@pytest.mark.parametrize(("words", "bram18"), [(256, 15), (1024, 29)])
def test_block_ram_of_one_direction_of_an_adapter(words: int, bram18: int):
    """512 bits: 16 bursts of 16 words and of 64 words (csynth's M_AXI tables: 30 for both directions, 29 for one)."""
    assert port_memory(512, words, U55C.memories).bram36 == bram18 / 2


@pytest.mark.parametrize(
    ("name", "core"),
    [
        ("fadd", "fadd_32ns_32ns_32_7_full_dsp_1"), ("fsub", "fsub_32ns_32ns_32_7_full_dsp_1"),
        ("fmul", "fmul_32ns_32ns_32_4_max_dsp_1"), ("fexp", "fexp_32ns_32ns_32_14_full_dsp_1"),
        ("imul_8x8_fabric", "mul_8s_8s_16_1_1"), ("imul_8x4_fabric", "mul_4s_8s_12_1_1"),
    ],
)  # fmt: skip
def test_operators_that_are_no_guess_are_as_csynth_counts_them(name: str, core: str):
    ours, theirs = U55C.operators[name], core_area(core)
    assert theirs is not None
    assert (ours.guess, ours.lut, ours.dsp) == (False, theirs.lut, theirs.dsp)


@pytest.mark.parametrize("name", ["ftanh", "ferf", "frsqrt", "fdiv", "flog", "fround"])
def test_operators_that_no_report_shows_are_guesses(name: str):
    assert U55C.operators[name].guess


def test_lanes_that_take_turns_share_cores():
    """128 multipliers that start every 3 cycles are 43 cores (Prometheus task3_intra: 129 DSPs)."""
    fmul = Operator(latency=4, dsp=3, lut=78, ff=143, bits=32)
    assert operator_logic([(fmul, 128)], 3) == (43 * 78, 43 * 143, 43 * 3, 128 * 32)


def test_a_task_is_the_sum_of_its_units():
    one = task_logic(Shape(1, 0, 0, 0, 0), U55C.area)
    both = task_logic(Shape(3, 5, 64, 2, 32), U55C.area)
    unit = U55C.area.task
    assert one.lut == unit.base.lut + unit.counter_bit.lut
    expected = unit.base.ff + 3 * unit.counter_bit.ff + 5 * unit.stage.ff + 64 * unit.bit.ff + 2 * unit.memory.ff
    assert both.ff == pytest.approx(expected + 32 * unit.shared_bit.ff)


def test_counters():
    assert counter_bits((1, 2, 3, 256)) == 0 + 1 + 2 + 8
