"""What a board owes the host program (compiler/host/xrt.py): one shared class of tests."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import NETWORKS, Network

from compiler.host.accelerator import Accelerator, program
from compiler.host.design import load_design
from compiler.host.xrt import Xrt


class BoardContract:
    """Fixtures `xrt`, `design` (a directory, several kernels and a scalar) and `xclbin` come from the subclass."""

    network: Network = NETWORKS["layer_norm"]()

    def test_contents_move_by_sync_only(self, xrt: Xrt, xclbin: Path) -> None:
        board, buffer = self._buffer(xrt, xclbin)
        to, back = xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE
        buffer.map()[:] = bytes(range(256))
        buffer.sync(to, 256, 0)
        buffer.map()[:] = bytes(256)
        assert not any(buffer.map())
        buffer.sync(back, 64, 128)
        assert bytes(buffer.map()) == bytes(128) + bytes(range(128, 192)) + bytes(64)
        with pytest.raises(RuntimeError):
            buffer.sync(back, 256, 64)
        board.load_xclbin(xrt.xclbin(str(xclbin)))
        with pytest.raises(RuntimeError):
            buffer.sync(back, 256, 0)

    def test_kernels_compute_the_network_each_time(self, xrt: Xrt, design: Path, xclbin: Path) -> None:
        board = xrt.device(0)
        accelerator = Accelerator(xrt, board, load_design(design), program(xrt, board, xclbin))
        accelerator.load_files()
        for _ in range(2):
            accelerator.start()
        (result,) = accelerator.design.results
        got = accelerator.read(result)
        expected = self.network.expected[result.name]
        np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())

    def test_an_argument_takes_its_own_memory_group_only(self, xrt: Xrt, design: Path, xclbin: Path) -> None:
        board = xrt.device(0)
        uuid = board.load_xclbin(xrt.xclbin(str(xclbin)))
        entry = next(k for k in load_design(design).kernels if len(k.channels) > 1)
        kernel = xrt.kernel(board, uuid, entry.name, xrt.kernel.exclusive)
        groups = [kernel.group_id(position) for position in range(len(entry.channels))]
        other = next(g for g in groups if g != groups[0])
        run, buffers = xrt.run(kernel), {g: xrt.bo(board, 4096, xrt.bo.normal, g) for g in (other, groups[0])}
        run.set_arg(0, buffers[groups[0]])
        with pytest.raises(RuntimeError, match="memory group"):
            run.set_arg(0, buffers[other])

    def test_a_board_has_a_number_or_an_address(self, xrt: Xrt, xclbin: Path) -> None:
        for name in (0, "0000:3b:00.1"):
            xrt.device(name).load_xclbin(xrt.xclbin(str(xclbin)))

    @staticmethod
    def _buffer(xrt: Xrt, xclbin: Path) -> tuple[Any, Any]:
        board = xrt.device(0)
        board.load_xclbin(xrt.xclbin(str(xclbin)))
        return board, xrt.bo(board, 256, xrt.bo.normal, 0)
