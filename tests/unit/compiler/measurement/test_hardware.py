"""Measuring on a board, in front of a fake one: a pyxrt for another process and a tool in PATH."""

import re
from pathlib import Path

import pytest
from fake_board import FakeBoard, described_design
from fake_xbutil import BDF, CARD, SHELL, host_report

from compiler.errors import InvalidInputError
from compiler.measurement.errors import MeasurementError
from compiler.measurement.lock import lock_board
from compiler.measurement.measure import measure
from compiler.measurement.measurement import Measurement
from compiler.measurement.progress import Step, nobody
from compiler.measurement.request import MeasureRequest
from compiler.metrics import Fidelity

pytestmark = pytest.mark.slow

RESET = ["reset", "--device", BDF, "--force"]


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return described_design(tmp_path_factory.mktemp("design"))


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBoard:
    return FakeBoard(tmp_path, monkeypatch)


def measured(design: Path, request: MeasureRequest) -> Measurement:
    return measure(design, design / "x.xclbin", request)


def failed(design: Path, request: MeasureRequest) -> MeasurementError:
    with pytest.raises(MeasurementError) as caught:
        measured(design, request)
    return caught.value


def test_a_board_gives_times_power_and_energy_without_and_with_idle(design: Path, board: FakeBoard) -> None:
    lines: list[str] = []
    steps: list[Step] = []
    found = measure(design, design / "x.xclbin", board.quick(board=SHELL), lines.append, steps.append)
    assert found.passed, found.message
    assert (found.board, found.shell, found.tool_versions) == (BDF, SHELL, {"xrt": "2.16.204"})
    metrics = {m.name: m for m in found.metrics()}
    assert {(m.fidelity, m.tool, m.tool_version) for m in metrics.values()} == {(Fidelity.BOARD, "xrt", "2.16.204")}
    assert found.times is not None
    assert found.times.n == 20
    assert found.times.min_us <= found.times.p05_us <= found.times.median_us <= found.times.p95_us
    assert metrics["latency"].value == found.times.median_us
    # 45 W when it runs and 20 W at rest, where it rests between runs that this machine lets wait.
    idle, power = metrics["idle_power"].value, metrics["power"].value
    assert idle == pytest.approx(20.0, abs=0.01)
    assert idle < power < 45.01
    assert found.power is not None
    assert (found.power.samples >= 10, found.power.distinct >= 5, found.power.source) == (True, True, "pyxrt")
    each = 1e6 / metrics["throughput"].value
    assert each > 0
    assert metrics["energy"].value == pytest.approx((power - idle) * each, rel=0.01)
    assert metrics["energy_with_idle"].value == pytest.approx(power * each, rel=0.01)
    assert not found.flags
    assert [step.name for step in steps if step.done == 0] == ["warm-up", "timed runs", "idle power", "power"]
    assert all(step.done <= step.total for step in steps)
    assert f"load x.xclbin on {BDF} ({SHELL})" in lines
    assert board.xbutil.calls[-1][0] == "examine"


def test_power_below_the_card_at_rest_is_flagged(design: Path, board: FakeBoard) -> None:
    board.break_it("idle_w, Faults.run_w = 3.0, 5.0")
    found = measured(design, board.quick())
    assert [flag.metric for flag in found.flags] == ["power"]
    assert "W (board) can not be: the card at rest draws at least 14.5 W" in found.flags[0].text


def test_a_sensor_that_repeats_itself_gives_no_power(design: Path, board: FakeBoard) -> None:
    board.break_it("refresh_s = 1e9")
    found = measured(design, board.quick(idle_seconds=0.1, min_seconds=0.2))
    assert found.passed
    assert found.power is None
    assert {"latency", "latency_p95", "throughput"} == {m.name for m in found.metrics()}
    # What it repeats is that of an idle or of a busy card, as it was when it was asked.
    assert re.search(r"has [123] distinct readings in .* a mean needs 5", found.notes[0])


def test_without_a_sensor_there_are_times_and_a_note(design: Path, board: FakeBoard) -> None:
    board.break_it("sensor = False")
    found = measured(design, board.quick())
    assert {"latency", "latency_p95"} == {m.name for m in found.metrics()}
    assert f"the power of {BDF} is not known" in found.notes[0]
    assert "xbutil examine wrote no report; it said: ERROR: no driver" in found.notes[0]


def test_a_wrong_result_is_a_no_without_metrics(design: Path, board: FakeBoard) -> None:
    board.break_it("wrong_from = 1")
    found = measured(design, board.quick())
    assert not found.passed
    assert "y is off by" in found.message
    assert found.metrics() == ()
    assert found.power is None


def test_a_board_that_errs_only_when_it_was_busy_for_long_is_found_out(design: Path, board: FakeBoard) -> None:
    board.break_it("wrong_from = 24")  # behind the 3 + 20 runs whose results are compared first
    found = measured(design, board.quick())
    assert found.power is not None
    assert not found.passed


def test_a_kernel_that_does_not_end_is_named_and_nothing_is_reset_unasked(design: Path, board: FakeBoard) -> None:
    board.break_it('hangs = "mlp_k1"')
    error = failed(design, board.quick(timeout_s=0.3))
    assert error.kind == "timeout"
    assert str(error) == (
        "kernel mlp_k1 of mlp did not end within 0.3 s; the board may still hang, nobody allowed its "
        f"reset: xbutil reset --device {BDF} --force"
    )
    assert all(call[0] == "examine" for call in board.xbutil.calls)


def test_a_call_that_never_returns_is_killed_and_the_board_reset_where_that_is_allowed(
    design: Path, board: FakeBoard
) -> None:
    board.break_it('freezes = "mlp_k1"')
    error = failed(design, board.quick(timeout_s=0.3, allow_reset=True))
    assert error.kind == "timeout"
    assert str(error).startswith("kernel mlp_k1 of mlp did not end within 0.3 s; the board was reset")
    assert board.xbutil.calls[-1] == RESET
    with lock_board((BDF,), 0, nobody, board.locks):  # nothing is left that holds the board
        pass


def test_a_reset_that_failed_is_told(design: Path, board: FakeBoard) -> None:
    board.break_it('hangs = "mlp_k0"')
    board.xbutil.answer(reset="Reset failed on Device[{}]")
    error = failed(design, board.quick(timeout_s=0.2, allow_reset=True))
    assert "was not reset" in str(error)
    assert f"Reset failed on Device[{BDF}]" in str(error)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("busy = True", "Device or resource busy; another process has the board loaded"),
        ("refused_after = 2", r"unable to allocate \d+ bytes.*check link\.cfg"),
        ("crashes = True", r"ended with code 3; it said:\s*nothing; look at dmesg"),
    ],
)
def test_a_board_that_refuses_says_what_to_do(design: Path, board: FakeBoard, fault: str, said: str) -> None:
    board.break_it(fault)
    error = failed(design, board.quick(allow_reset=True))
    assert error.kind == "device"
    assert re.search(said, str(error), re.DOTALL), error
    assert RESET not in board.xbutil.calls


def test_a_board_in_use_is_not_touched(design: Path, board: FakeBoard) -> None:
    with lock_board((BDF,), 0, nobody, board.locks):
        error = failed(design, board.quick())
    assert error.kind == "device"
    assert f"board {BDF} is in use by pid" in str(error)


def test_of_several_boards_the_free_one_is_taken(design: Path, board: FakeBoard) -> None:
    second = "0000:5e:00.1"
    board.xbutil.answer(host=host_report([CARD, CARD | {"bdf": second}]))
    with lock_board((BDF,), 0, nobody, board.locks):
        assert measured(design, board.quick(board=SHELL, min_seconds=0)).board == second


@pytest.mark.parametrize(
    ("cards", "wanted", "said"),
    [
        ([CARD], "xilinx_u280_gen3x16_xdma_1_202211_1", rf"no board here is .*; there is {BDF} \({SHELL}\)"),
        ([CARD | {"is_ready": "false"}], BDF, "can not measure on a board: no board is ready: .* is not ready"),
        ([], BDF, "can not measure on a board: xbutil finds no Alveo board"),
    ],
)
def test_a_board_that_is_not_there_is_refused(
    design: Path, board: FakeBoard, cards: list[dict[str, str]], wanted: str, said: str
) -> None:
    board.xbutil.answer(host=host_report(cards))
    error = failed(design, board.quick(board=wanted))
    assert error.kind == "device"
    assert re.search(said, str(error)), error


def test_an_xclbin_is_needed(design: Path, board: FakeBoard) -> None:
    with pytest.raises(InvalidInputError, match=r"a board needs an xclbin: link the design with v\+\+ -l"):
        measure(design, None, board.quick())
    with pytest.raises(InvalidInputError, match=r"none\.xclbin is no file"):
        measure(design, design / "none.xclbin", board.quick())
