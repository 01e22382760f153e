"""What a csynth report says of tasks, tops, adapters, FIFOs and memories."""

from collections import Counter

from compiler.calibration.from_csynth import Reading
from compiler.calibration.samples import Sample
from compiler.platforms.platform import load_platform
from compiler.toolchain.hls.csynth import Clock, CsynthReport, Loop, Module, Span
from compiler.toolchain.hls.csynth_rows import Area, Breakdown, FifoRow, InstanceRow, MemoryRow, OperatorRow

MEMORIES = load_platform("u55c").memories


def module(name: str, area: Area, *loops: Loop, pipeline: str = "no", calls: tuple[str, ...] = ()) -> Module:
    return Module(name, pipeline, Span(), Span(), area, loops=loops, calls=calls)


def loop(trips: int, stages: int, ii: int = 1, pipelined: bool = True) -> Loop:
    return Loop("l", Span(trips, trips), Span(), Span(stages, stages), ii, pipelined)


def operators(task: str, core: str, count: int, distinct: int) -> list[OperatorRow]:
    return [OperatorRow(f"{core}_U{k % distinct}", task, "x", "", 1, 0) for k in range(count)]


FADD, FMUL = "fadd_32ns_32ns_32_7_full_dsp_1", "fmul_32ns_32ns_32_4_max_dsp_1"
BREAKDOWN = Breakdown(
    by_kind=(
        ("Expression", Area(lut=20)), ("Multiplexer", Area(lut=9)), ("Register", Area(ff=7)), ("FIFO", Area(lut=156)),
    ),
    instances=(
        InstanceRow("mac_U0", "mac", Area(lut=900, ff=800)),
        InstanceRow("move_U0", "move", Area(lut=100, ff=90)),
        InstanceRow("control_s_axi_U", "control_s_axi", Area(lut=300, ff=180)),
        InstanceRow("gmem_m_axi_U", "gmem_m_axi", Area(bram18=30, lut=2700, ff=3500)),
    ),
)  # fmt: skip
REPORT = CsynthReport(
    version="2023.2",
    part="xcu55c",
    top="top",
    flow="vitis",
    clock=Clock(4.0, 1.0, 3.0),
    available=Area(),
    modules=(
        module("top", Area(bram18=66, dsp=11, ff=1300, lut=4200), pipeline="dataflow", calls=("mac", "move")),
        module("mac", Area(bram18=4, dsp=11, ff=800, lut=900), loop(256, 20, 3)),
        module("move", Area(bram18=0, dsp=0, ff=90, lut=100), loop(1000, 3)),
    ),
    fifos=tuple(FifoRow(f"f{k}", "top", 1024, 32, Area(bram18=1, ff=95)) for k in range(2)),
    memories=(MemoryRow("acc_U", "mac", "ram_1p", 32, 2048, 1, Area(bram18=4)),),
    operators=(
        *operators("mac", FADD, 8, 4),
        *operators("mac", FMUL, 1, 1),
        OperatorRow("add_fu_1_p2", "move", "add", "", 0, 0),
    ),
    breakdown=BREAKDOWN,
)
TEXT = "|m_axi_gmem_WDATA    |  out|  512|       m_axi|   gmem|  pointer|\n"


def samples(report: CsynthReport = REPORT) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for sample in Reading(report, TEXT, "lab", "d", MEMORIES).samples():
        found.setdefault(sample.kind, []).append(sample)
    return found


def test_every_part_becomes_a_sample():
    assert {kind: len(group) for kind, group in samples().items()} == {
        "pipeline task": 2, "dataflow top": 1, "s_axilite control": 1, "m_axi adapter": 1, "FIFO": 2,
        "FIFOs of a report": 1, "memory": 1, "whole design": 1,
    }  # fmt: skip


def test_operators_are_counted_once_for_each_core_and_bits_for_each_lane():
    mac, move = samples()["pipeline task"]
    assert mac.lut.fixed == 4 * 198 + 78
    assert mac.ff.fixed == 4 * 318 + 143
    assert (mac.dsp.fixed, mac.dsp.actual) == (4 * 2 + 3, 11)
    assert dict(mac.features) == {
        "task.base": 1, "task.counter_bit": 8, "task.stage": 20, "task.bit": 9 * 32, "task.memory": 1,
        "task.shared_bit": 8 * 32,
    }  # fmt: skip
    assert (mac.bram36.actual, mac.bram36.fixed) == (2.0, 2.0)
    assert (move.lut.fixed, move.features["task.bit"]) == (0, 32)  # of the design's tokens


def test_top_and_adapter():
    (top,), (adapter,) = samples()["dataflow top"], samples()["m_axi adapter"]
    assert (top.lut.actual, top.ff.actual, dict(top.features)) == (29, 7, {"process.base": 2.0})
    assert dict(adapter.features) == {"port.base": 2.0, "port.bit": 1024.0}
    assert (adapter.bram36.actual, adapter.bram36.fixed) == (15.0, 15.0)


def test_the_whole_design_is_the_sum():
    (design,), tasks = samples()["whole design"], samples()["pipeline task"]
    assert design.dsp.fixed == sum(t.dsp.fixed for t in tasks) == 11
    assert design.features["task.stage"] == 23
    assert design.features["fifo.bram.bit"] == 64
    assert design.features["process.base"] == 2


def test_what_the_model_has_no_notion_of_is_left_out():
    strange = operators("move", "fpow_32ns_32ns_32_9_full_dsp_1", 1, 1)
    found = Counter(s.kind for s in Reading(with_operators(*strange), TEXT, "lab", "d", MEMORIES).samples())
    assert (found["pipeline task"], found["whole design"]) == (1, 0)


def with_operators(*more: OperatorRow) -> CsynthReport:
    fields = {name: getattr(REPORT, name) for name in REPORT.__dataclass_fields__}
    return CsynthReport(**{**fields, "operators": (*REPORT.operators, *more)})


def test_tasks_of_a_design_of_ours_move_what_its_dataflow_says():
    tokens = {"move": 512, "mac": 64}
    found = [s for s in Reading(REPORT, TEXT, "lab", "d", MEMORIES, tokens).samples() if s.kind == "pipeline task"]
    assert [s.features["task.bit"] for s in found] == [9 * 32, 512]
