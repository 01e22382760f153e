"""Programs that tests need and set-up may have had no right to install: without one, its tests are skipped."""

import shutil

import pytest

WHAT = {
    "tclsh": "the stand-in for Vitis runs scripts with it; install tcl",
    "kubectl": "the manifests are built with it",
    "systemd-analyze": "the units are read with it",
    "verilator": "networks are built as SystemVerilog with it; install verilator",
    "make": "Verilator builds with it; install make",
    "git": "the checkout is copied and listed with it; install git",
}


def need(program: str) -> None:
    """Skip the test, or all that ask for the fixture, where the machine lacks `program`."""
    if shutil.which(program) is None:
        pytest.skip(f"no {program}: {WHAT[program]}")
