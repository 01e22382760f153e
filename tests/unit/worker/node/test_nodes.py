from pathlib import Path

import pytest

from compiler.machine import Machine
from compiler.measurement.boards import Board, Host
from compiler.platforms.platform import load_platform
from compiler.toolchain.vitis import installation
from worker.limits import table
from worker.node import nodes
from worker.node.nodes import NodeInfo, describe
from worker.settings import Settings


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Vitis, no board, 4 CPUs and 90 GB, whatever this one has."""
    nothing = installation.Search((), {"vitis": "no Vitis here: install it"})
    monkeypatch.setattr(nodes.vitis, "search", lambda **_: nothing)
    monkeypatch.setattr(nodes.boards, "find_host", lambda: Host(missing="no xbutil here: install XRT"))
    machine = Machine(100 << 30, 4.0)
    monkeypatch.setattr(nodes, "find_machine", lambda: machine)
    monkeypatch.setattr(table, "_machine", lambda: machine)
    monkeypatch.setattr(nodes, "gxx_version", lambda: "12.2.0")


def described(**values: object) -> NodeInfo:
    return describe(Settings.model_validate({"home": Path("/nowhere"), "node": "lab7", **values}))


def installed(monkeypatch: pytest.MonkeyPatch, *platforms: str) -> None:
    missing = {} if platforms else {"link": "no platform is installed"}
    found = installation.Installation("2023.2", None, None, platforms, (), None, missing)  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(nodes.vitis, "search", lambda **_: installation.Search((found,), {}))


def test_a_bare_machine_does_what_needs_no_vendor() -> None:
    info = described()
    own = {"lower", "search", "simulate", "csim", "calibrate", "measure@simulated"}
    assert set(info.capabilities) == own
    assert info.missing == {"vitis": "no Vitis here: install it", "measure": "no xbutil here: install XRT"}
    assert (info.name, info.cpus, info.memory_gb) == ("lab7", 4.0, 90.0)
    assert "g++" in info.capabilities["csim"]


def test_without_a_compiler_nothing_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "gxx_version", lambda: "none")
    info = described()
    assert info.capabilities == {}
    assert "install g++" in info.missing["csim"]


def test_vitis_and_its_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "xilinx_u55c_gen3x16_xdma_3_202210_1")
    info = described()
    queues = {"csynth@2023.2", "cosim@2023.2", "link@2023.2:xilinx_u55c_gen3x16_xdma_3_202210_1"}
    assert queues <= set(info.capabilities)
    assert info.capabilities["csynth@2023.2"] == {"vitis": "2023.2"}


def test_vitis_without_platforms_does_not_link(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    info = described()
    assert "csynth@2023.2" in info.capabilities
    assert info.missing["link@2023.2"] == "no platform is installed"


def test_a_board_is_offered_by_either_name_of_its_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board("0000:c1:00.1", "xilinx_u55c_gen3x16_xdma_base_3", "u55c", ready=True)
    monkeypatch.setattr(nodes.boards, "find_host", lambda: Host((board,)))
    measures = {queue for queue in described().capabilities if queue.startswith("measure@xilinx")}
    assert measures == {f"measure@{board.shell}", f"measure@{load_platform('u55c').shell}"}


def test_a_board_that_is_not_ready_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board("0000:c1:00.1", "xilinx_u55c_gen3x16_xdma_base_3", "u55c", ready=False, why_not="flash its shell")
    monkeypatch.setattr(nodes.boards, "find_host", lambda: Host((board,)))
    assert described().missing[f"measure@{board.shell}"] == "flash its shell"


def test_stages_that_do_not_fit_the_node_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "xilinx_u55c_gen3x16_xdma_3_202210_1")
    info = described(memory_gb=16)
    assert (
        "needs 40 GB of memory, this node offers 16 GB"
        in info.missing["link@2023.2:xilinx_u55c_gen3x16_xdma_3_202210_1"]
    )
    assert "csynth@2023.2" in info.capabilities
    less = described(memory_gb=16, requests={"link": {"memory_gb": 15}})
    assert "link@2023.2:xilinx_u55c_gen3x16_xdma_3_202210_1" in less.capabilities


def test_only_the_named_capabilities_are_offered() -> None:
    info = described(capabilities=("csim", "measure"))
    assert set(info.capabilities) == {"csim", "measure@simulated"}
    assert "MILLRACE_CAPABILITIES" in info.missing["search"]
