"""XRT's tool in PATH."""

from pathlib import Path

import pytest
from processes import gone, until

from compiler.measurement import xbutil
from compiler.measurement.errors import MeasurementError
from compiler.measurement.xbutil import Xbutil

# As XRT's own: a script that sets up the environment and waits for the program.
_SCRIPT = """#!/bin/sh
echo asks the board
sleep 3600 &
echo $! > "$(dirname "$0")/pid"
wait
"""


def test_nothing_is_left_of_a_call_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "xbutil"
    tool.write_text(_SCRIPT)
    tool.chmod(0o755)
    monkeypatch.setattr(xbutil, "EXAMINE_S", 1.0)
    with pytest.raises(MeasurementError, match=r"xbutil examine did not end within 1 s; look at the board with dmesg"):
        Xbutil(tool).examine()
    program = int((tmp_path / "pid").read_text())
    until(lambda: gone(program))
