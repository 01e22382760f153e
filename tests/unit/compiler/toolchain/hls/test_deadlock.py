import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.hls.deadlock import DeadlockReport, Wait, parse_deadlock
from compiler.toolchain.source import Source, read_source


def synthetic(name: str) -> DeadlockReport:
    return parse_deadlock(read_source(synthetic_fixture(f"cosim/{name}")))


def test_a_full_fifo_is_a_matter_of_depth() -> None:
    report = synthetic("deadlock_full.txt")
    assert (report.time, report.complete, report.is_depth) == (5210000, True, True)
    assert report.full_channels == ("k0.short_way_U",)
    assert report.cycles[0][2] == Wait("k0.fork_x_U0", "full", "k0.short_way_U", "k0.op_join_U0", "full FIFO")
    (failure,) = report.failures
    assert (failure.kind, failure.where) == ("deadlock", "k0.short_way_U")
    assert "k0.fork_x_U0 writes into the full k0.short_way_U, which is read by k0.op_join_U0" in failure.message
    assert failure.lever == "make a FIFO of each cycle deeper: k0.short_way_U"


def test_only_empty_fifos_are_a_wrong_design() -> None:
    report = synthetic("deadlock_empty.txt")
    assert (report.is_depth, report.full_channels) == (False, ())
    assert "no depth helps" in report.failures[0].lever


def test_one_cycle_without_a_full_fifo_keeps_the_deadlock() -> None:
    text = synthetic_fixture("cosim/deadlock_full.txt").read_text()
    empty = synthetic_fixture("cosim/deadlock_empty.txt").read_text()
    both = text.split("// Totally")[0] + empty.split("/\n// Dependence", 1)[1].join(["// Dependence", ""])
    report = parse_deadlock(Source("x.log", both.replace("Totally 1", "Totally 2")))
    assert (len(report.cycles), report.complete, report.is_depth) == (2, True, False)


def test_a_process_that_waits_for_no_fifo() -> None:
    text = synthetic_fixture("cosim/deadlock_empty.txt").read_text()
    line = next(part for part in text.split("\n") if "Blocked by" in part)
    report = parse_deadlock(Source("x.log", text.replace(line, "//      Blocked by missing 'ap_start' of k0.d_U0")))
    assert report.cycles[0][0] == Wait("k0.a_U0", "other", "", "", "missing 'ap_start' of k0.d_U0")
    assert "no FIFO" in report.failures[0].lever


def test_a_text_that_is_cut_gives_no_verdict() -> None:
    text = synthetic_fixture("cosim/deadlock_full.txt").read_text()
    report = parse_deadlock(Source("x.log", text[: text.index("Blocked by full") + 30]))
    assert not report.complete
    assert [w.because for w in report.cycles[0]] == ["empty", "empty"]
    assert "copy it again" in report.failures[0].lever


def test_a_text_without_deadlock() -> None:
    with pytest.raises(ReportError, match=r"x\.log is not a deadlock report"):
        parse_deadlock(Source("x.log", "all is well"))


def test_real_texts() -> None:
    depth = parse_deadlock(read_source(vitis_fixture("cosim/deadlock_excerpt_full_and_empty_fifo.txt")))
    assert (depth.complete, depth.full_channels) == (True, ("example.proc_1_U0.data_channel1_U",))
    assert [(w.process.split(".")[-1], w.because) for w in depth.cycles[0]] == [
        ("proc_1_2_U0", "empty"), ("proc_1_1_U0", "full"),
    ]  # fmt: skip
    wrong = parse_deadlock(read_source(vitis_fixture("cosim/deadlock_excerpt_hwemu_empty_empty.txt")))
    assert (wrong.is_depth, {w.because for w in wrong.cycles[0]}) == (False, {"empty"})
    assert {w.channel for w in wrong.cycles[0]} == {"spot_finder_spot_finder.input_U"}
