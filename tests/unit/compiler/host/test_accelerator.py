"""The host program on the fake board, and the fake board itself under the contract."""

from pathlib import Path

import fake_pyxrt
import numpy as np
import pytest
from board_contract import BoardContract
from host_programs import run_program
from networks import NETWORKS
from small_designs import small_design

from compiler.host.accelerator import Accelerator, program
from compiler.host.design import load_design
from compiler.host.packing import unpack
from compiler.host.xrt import RunError, Xrt
from compiler.options import Knobs


@pytest.fixture
def design(tmp_path: Path) -> Path:
    return small_design(NETWORKS["layer_norm"](), tmp_path, Knobs(fusion_budget=0))


@pytest.fixture
def xclbin(design: Path) -> Path:
    (design / "x.xclbin").touch()
    return design / "x.xclbin"


class TestFakeBoard(BoardContract):
    @pytest.fixture
    def xrt(self) -> Xrt:
        return fake_pyxrt


def test_a_kernel_that_does_not_complete_is_an_error(
    design: Path, xclbin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = fake_pyxrt.device(0)
    accelerator = Accelerator(fake_pyxrt, board, load_design(design), program(fake_pyxrt, board, xclbin))
    accelerator.load_files()
    monkeypatch.setattr(fake_pyxrt.kernel, "state", fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_ERROR)
    with pytest.raises(RunError, match=r"kernel layer_norm_k0 ended as 5, not as completed"):
        accelerator.start()


def test_the_emitted_program_runs_without_millrace_and_writes_what_the_network_gives(
    design: Path, xclbin: Path
) -> None:
    program = design / "host" / "run.py"
    without = run_program(program, xclbin)
    assert without.returncode == 1
    assert "pyxrt is missing: install XRT" in without.stderr

    done = run_program(program, xclbin, "--repeat", 2, fake="from fake_pyxrt import *\n")
    assert done.returncode == 0, done.stderr
    assert "us a run (host clock)" in done.stdout
    image = load_design(design).images["y"]
    got = unpack([(design / file).read_bytes() for file in image.files], image.layout)
    expected = NETWORKS["layer_norm"]().expected["y"]
    np.testing.assert_allclose(got, expected, atol=1e-5)

    (design / image.files[0]).unlink()
    failed = run_program(program, xclbin, fake="from fake_pyxrt import *\nkernel.state = 5\n")
    assert failed.returncode == 1
    assert "ended as 5" in failed.stderr
    assert not (design / image.files[0]).exists()
