"""Entry of the stand-in's programs."""

import contextlib
import sys
from pathlib import Path

from vitis_standin import vitis_hls, vitis_run, vpp
from vitis_standin.call import Call, ToolExit


def _nothing(_call: Call) -> int:
    return 0


_TOOLS = {"vitis_hls": vitis_hls.run, "vitis-run": vitis_run.run, "v++": vpp.run, "vivado": _nothing}
_BUILD = {"vitis_hls": "Vitis HLS", "vitis-run": "vitis-run", "v++": "v++", "vivado": "vivado"}


def main(tool: str, version: str, root: str) -> int:
    """Runs `tool` with the process's arguments; its exit code."""
    call = Call(tool, version, Path(root), sys.argv[1:])
    if {"--version", "-version"} & set(call.argv):
        print(f"\n****** {_BUILD[tool]} v{version} (64-bit)\n  **** SW Build 4026344 on 2023-10-11-15:42:10\n")
        return 0
    call.record()
    mark = call.mark_running()
    try:
        return _TOOLS[tool](call)
    except ToolExit as end:
        return end.code
    finally:
        with contextlib.suppress(AttributeError, FileNotFoundError):
            mark.unlink()  # pyright: ignore[reportOptionalMemberAccess]
