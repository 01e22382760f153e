"""The ways in which the stand-in fails when it is told to, in the words of the real tools.

The forms are those of the logs in fixtures/vitis, of AMD's answer records and of public bug reports.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

from vitis_standin.call import Call, ToolExit, flush_and_exit
from vitis_standin.texts import deadlock_text

HLS = ("csynth", "cosim")
ALL = (*HLS, "link")
APPLIES: dict[str, tuple[str, ...]] = {
    "licence": ALL,
    "c_error": ("csynth",),
    "half_xo": ("csynth",),
    "other_style": ("csynth",),
    "licence_unsaid": HLS,
    "deadlock": ("cosim",),
    "cosim_mismatch": ("cosim",),
    "placement": ("link",),
    "routing": ("link",),
    "timing": ("link",),
    "timing_scaled": ("link",),
    "hopeless_qor": ("link",),
    **dict.fromkeys(
        ("killed", "disk_full", "hang", "crash", "memory", "disk", "daemon", "no_report", "truncated"), ALL
    ),
}
# They let the stage go on and change what it writes.
QUIET = frozenset(
    {"timing_scaled", "hopeless_qor", "no_report", "truncated", "half_xo", "deadlock", "cosim_mismatch", "daemon"}
    | {"licence_unsaid", "other_style"}
)
# Of those, the ones that leave no report.
NO_REPORT = frozenset({"no_report", "licence_unsaid"})

_ALLOCATE = """
import sys, time
held = []
for _ in range(int(sys.argv[1]) // 32):
    held.append(bytearray(32 << 20)); held[-1][::4096] = b"x" * len(held[-1][::4096]); time.sleep(0.02)
time.sleep(3600)
"""


def fault(call: Call, stage: str) -> str | None:
    """The fault that this run of `stage` has, counted where only the first N have it."""
    for part in filter(None, call.setting("FAIL").split(",")):
        name, _, number = part.strip().partition("@")
        wanted, _, kind = name.rpartition(":")
        if kind not in APPLIES:
            sys.exit(f"vitis_standin: unknown fault {kind!r}; there are {', '.join(sorted(APPLIES))}")
        if wanted in {"", stage} and stage in APPLIES[kind] and (not number or _count(call, name) < int(number)):
            return kind
    return None


def _count(call: Call, name: str) -> int:
    """How often it was asked for before."""
    with (call.root / "standin.counts").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        counts = json.loads(file.read() or "{}")
        before = counts.get(name, 0)
        file.seek(0)
        file.truncate()
        file.write(json.dumps({**counts, name: before + 1}))
    return before


def fail(call: Call, stage: str, kind: str) -> None:
    """Ends the tool, unless the fault is a quiet one."""
    if kind in QUIET:
        if kind == "daemon":
            _orphan()
        if kind == "licence_unsaid":
            _no_licence(call, stage)
        return
    _ENDS[kind](call, stage)
    raise ToolExit(1)


def _orphan() -> None:
    """A process in a session of its own that lives on when the tool ends, without a parent."""
    subprocess.Popen(["sh", "-c", "setsid sleep 3600 & setsid sleep 3600 &"], stdout=subprocess.DEVNULL).wait()


def _trace(call: Call) -> None:
    call.say("    while executing")
    call.say('"source run_hls.tcl"')


def _licence(call: Call, stage: str) -> None:
    _no_licence(call, stage)
    link_failed(call) if stage == "link" else _trace(call)


def _no_licence(call: Call, stage: str) -> None:
    feature, device = ("HLS", "xcu55c") if stage in HLS else ("Implementation", "xcu55c")
    call.say(f"Attempting to get a license for feature '{feature}' and/or device '{device}'")
    call.say(
        f"WARNING: [Common 17-348] Failed to get the license for feature '{feature}' and/or device '{device}'. "
        "Explanation: Maximum number of users for Xilinx feature reached."
    )
    call.error(
        "VPL 17-345" if stage == "link" else "Common 17-345",
        f"A valid license was not found for feature '{feature}' and/or device '{device}'. Please run the Vivado "
        "License Manager for assistance in determining which features and devices are licensed for your system.",
    )


def _c_error(call: Call, stage: str) -> None:
    call.error("HLS 207-3771", "use of undeclared identifier 'undeclared' (tasks.cpp:12:5)")
    call.error("HLS 200-1715", "Encountered problem during source synthesis")
    _trace(call)


def _placement(call: Call, stage: str) -> None:
    call.say("[03:55:51] Starting logic placement..")
    call.say("[03:58:15] Run vpl: Step impl: Failed")
    for cells, where, needs, has in (
        ("RAMB36/FIFO", "Pblock pblock_dynamic_region", 7702, 1776),
        ("RAMB36/FIFO", "Top Level Design", 7895, 2016),
    ):
        call.error(
            "VPL UTLZ-1",
            f"Resource utilization: {cells} over-utilized in {where} (This design requires more {cells} cells than "
            f"are available in {where}. This design requires {needs} of such cell types but only {has} compatible "
            "sites are available. Please analyze your synthesis results and constraints.)",
        )
    call.error("VPL 4-23", "Error(s) found during DRC. Placer not run.")
    link_failed(call)


def _routing(call: Call, stage: str) -> None:
    call.say("[23:05:47] Starting logic routing..")
    call.say("[01:44:00] Run vpl: Step impl: Failed")
    call.error("VPL 35-3", "Design is not routable as its global congestion level is 7.")
    call.say("Resolution: Run report_route_status to get a full summary of the design's routing.")
    call.error("VPL 18-1000", "Routing results verification failed due to partially-conflicted nets")
    link_failed(call)


def timing(call: Call, stage: str = "link") -> None:
    """A clock that can not be scaled missed its target."""
    call.error(
        "VPL 101-2",
        "design did not meet timing - Design did not meet timing. One or more unscalable system clocks did not meet "
        "their required target frequency. For all system clocks, this design is using 0 nanoseconds as the threshold "
        "worst negative slack (WNS) value.",
    )
    link_failed(call)


def link_failed(call: Call, step: str = "vpl") -> None:
    """The messages that follow whatever ends a link."""
    if step == "vpl":
        call.error("VPL 60-773", "In 'runme.log', caught Tcl error:  problem implementing impl_1: ERROR")
        call.error("VPL 60-704", "Integration error, problem implementing impl_1: ERROR")
        call.error("VPL 60-1328", "Vpl run 'vpl' failed")
        call.error("VPL 60-806", "Failed to finish platform linker")
    call.info("v++ 60-1442", f"[03:58:17] Run run_link: Step {step}: Failed")
    call.say(
        "Time (s): cpu = 00:03:09 ; elapsed = 03:41:29 . Memory (MB): peak = 2431.340 ; gain = 0.000 ; "
        "free physical = 30954 ; free virtual = 195145"
    )
    call.error("v++ 60-661", "v++ link run 'run_link' failed")
    call.error("v++ 60-626", "Kernel link failed to complete")
    call.error("v++ 60-703", "Failed to finish linking")
    call.info("v++ 60-1653", "Closing dispatch client.")


def cosim_failed(call: Call, kind: str) -> None:
    """What cosim says of a deadlock and of other results."""
    if kind == "deadlock":
        call.say(deadlock_text())
        call.error("COSIM 212-303", "Aborting co-simulation: RTL simulation failed.")
        call.error("COSIM 212-344", "Rtl simulation failed.")
    else:
        call.error("COSIM 212-361", "Aborting co-simulation: C TB post check failed, nonzero return value '1'.")
    call.error("COSIM 212-4", "*** C/RTL co-simulation finished: FAIL ***")


def _killed(call: Call, stage: str) -> NoReturn:
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def _disk_full(call: Call, stage: str) -> None:
    call.say('couldn\'t write "design.rpt": no space left on device')
    _trace(call)
    if stage == "link":
        link_failed(call)


def _crash(call: Call, stage: str) -> NoReturn:
    call.say("Abnormal program termination (11)")
    call.say("Please check 'hs_err_pid4242.log' for details")
    flush_and_exit(_SEGMENTATION_FAULT)


def _hang(call: Call, stage: str) -> NoReturn:
    subprocess.Popen(["sleep", "3600"], start_new_session=True)
    call.say(f"{stage} hangs")
    time.sleep(3600)
    raise AssertionError


def _memory(call: Call, stage: str) -> NoReturn:
    megabytes = call.setting("MEMORY_MB", "2048")
    subprocess.Popen([sys.executable, "-c", _ALLOCATE, megabytes], start_new_session=True)
    time.sleep(3600)
    raise AssertionError


def _disk(call: Call, stage: str) -> NoReturn:
    for number in range(100_000):
        Path(f"fill{number:06d}.bin").write_bytes(os.urandom(1 << 20))
        time.sleep(0.01)
    raise AssertionError


_SEGMENTATION_FAULT = 139
_ENDS = {
    "licence": _licence,
    "c_error": _c_error,
    "placement": _placement,
    "routing": _routing,
    "timing": timing,
    "killed": _killed,
    "disk_full": _disk_full,
    "crash": _crash,
    "hang": _hang,
    "memory": _memory,
    "disk": _disk,
}
