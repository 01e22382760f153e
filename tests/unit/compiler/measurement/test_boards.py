"""Which boards a machine has, by what XRT's tool writes and what Python there is."""

from pathlib import Path
from typing import Any

import pytest
from fake_board import FakeBoard
from fake_xbutil import BDF, CARD, SHELL, FakeXbutil, host_report

from compiler.measurement.boards import Board, find_boards, find_host, missing

U280 = {"bdf": "0000:5e:00.1", "vbnv": "xilinx_u280_xdma_201920_3", "is_ready": True}  # no id, a flag that is one
NPU = {"bdf": "0000:c5:00.1", "device_class": "Ryzen", "name": "NPU Strix", "is_ready": "true"}


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBoard:
    return FakeBoard(tmp_path, monkeypatch)


def test_boards_are_listed_with_their_state(board: FakeBoard) -> None:
    golden = {"bdf": "0000:17:00.1", "vbnv": "xilinx_u250_GOLDEN_5", "is_ready": "false"}
    emulated = {"bdf": "0000:00:00.0", "vbnv": "xilinx:pcie-hw-em:7v3:1.0"}
    board.xbutil.answer(host=host_report([CARD, U280, golden, NPU, emulated]))
    first, second, third = find_boards()
    assert first == Board(BDF, SHELL, "u55c", True)
    assert (second.name, second.ready) == ("u280", True)
    assert (third.name, third.ready) == ("u250", False)
    assert "0000:17:00.1 runs its factory image" in third.why_not
    assert find_host().xrt_version == "2.16.204"
    assert missing() == ""


def test_the_tool_may_have_its_new_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board: FakeBoard) -> None:
    FakeXbutil(tmp_path / "new", monkeypatch, "xrt-smi")
    host = find_host()
    assert host.tool is not None
    assert [b.bdf for b in host.boards] == [BDF]
    assert host.tool.reset_command(BDF) == ["xrt-smi", "reset", "--device", BDF, "--force"]


def test_without_the_tool_there_are_no_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_boards() == ()
    assert missing().startswith("no xbutil or xrt-smi in PATH: install XRT")


def test_without_pyxrt_there_are_no_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board: FakeBoard) -> None:
    (tmp_path / "python" / "pyxrt.py").write_text("raise ImportError('libxrt_coreutil.so.2: cannot open')")
    assert find_boards() == ()
    assert missing().startswith("no Python of at least 3.10 with numpy and pyxrt")


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (host_report([]), "xbutil finds no Alveo board"),
        (host_report([NPU]), "xbutil finds no Alveo board"),
        (host_report([CARD | {"is_ready": "false"}]), f"no board is ready: {BDF} is not ready"),
        ({"schema_version": {}}, "examine.json is truncated or damaged: the document has no 'system'"),
        ('{"system": {', "examine.json is truncated or damaged"),
        (None, "xbutil examine wrote no report; it said: ERROR: no driver"),
    ],
)
def test_what_keeps_this_machine_from_measuring_is_said(board: FakeBoard, report: Any, said: str) -> None:
    board.xbutil.answer(host=report)
    assert said in missing()
    assert not any(b.ready for b in find_boards())


@pytest.mark.parametrize(
    ("shell", "platform"),
    [
        ("xilinx_u55c_gen3x16_xdma_base_3", "xilinx_u55c_gen3x16_xdma_3_202210_1"),
        ("xilinx_u280_gen3x16_xdma_base_1", "xilinx_u280_gen3x16_xdma_1_202211_1"),
        ("xilinx_u250_gen3x16_xdma_shell_4_1", "xilinx_u250_gen3x16_xdma_4_1_202210_1"),
        ("xilinx_u280_xdma_201920_3", "xilinx_u280_xdma_201920_3"),
    ],
)
def test_a_board_is_meant_by_address_shell_or_platform(shell: str, platform: str) -> None:
    board = Board(BDF, shell, "x", True)
    assert all(board.fits(wanted) for wanted in (BDF, shell, platform))
    others = ("0000:3b:00.0", "xilinx_u50_gen3x16_xdma_5_202210_1", platform.replace("_xdma", "_qdma"), "simulated")
    assert not any(board.fits(wanted) for wanted in others)


def test_another_version_of_the_shell_does_not_fit() -> None:
    assert not Board(BDF, SHELL, "u55c", True).fits("xilinx_u55c_gen3x16_xdma_31_202310_1")
    assert not Board(BDF, SHELL, "u55c", True).fits("xilinx_u55c_gen3x16_xdma_2_202110_1")
