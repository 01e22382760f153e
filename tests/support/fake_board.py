"""A machine with a board, as far as a measurement can tell: the tool in PATH, pyxrt for a process of its own."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from fake_xbutil import BDF, FakeXbutil
from networks import NETWORKS
from small_designs import small_design

from compiler.design_dir import digests
from compiler.measurement.request import MeasureRequest
from compiler.options import Knobs

_ROOT = Path(__file__).parents[2]
ESTIMATES = {"power": (30.0, "W"), "energy": (1.0, "uJ"), "hbm_traffic": (4096.0, "bytes")}


def described_design(folder: Path, network: str = "mlp") -> Path:
    """A design (of three kernels) with the design.json that measuring reads, and a file to call xclbin."""
    made = NETWORKS[network]()
    design = small_design(made, folder, Knobs(fusion_budget=0))
    np.savez(design / "tb" / "expected.npz", **made.expected)  # pyright: ignore[reportArgumentType]
    description = {
        "name": network,
        "platform": "u55c",
        "workload": {"precision": "f32"},
        "metrics": [
            {"name": name, "value": value, "unit": unit, "fidelity": "estimate"}
            for name, (value, unit) in ESTIMATES.items()
        ],
        "digests": digests(design),
    }
    (design / "design.json").write_text(json.dumps(description))
    (design / "x.xclbin").touch()
    return design


class FakeBoard:
    """`xbutil` is the tool; `break_it` writes what is wrong with the board."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.xbutil = FakeXbutil(folder / "bin", monkeypatch)
        self.folder = folder / "python"
        self.locks = folder / "locks"
        self.folder.mkdir()
        self.locks.mkdir()
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (self.folder, _ROOT, _ROOT / "tests" / "support"))))
        self.break_it()

    def break_it(self, *faults: str) -> None:
        """`faults` are assignments to `Faults`: 'hangs = "k0"'."""
        lines = ["from fake_pyxrt import *", f"Faults.activity = Path({str(self.folder / 'active')!r})"]
        (self.folder / "pyxrt.py").write_text("\n".join([*lines, *(f"Faults.{fault}" for fault in faults), ""]))

    def quick(self, **fields: object) -> MeasureRequest:
        """A request whose times are short; boards are locked in a folder of this machine's own."""
        short: dict[str, object] = {
            "board": BDF,
            "repeats": 20,
            "min_seconds": 0.5,
            "idle_seconds": 0.3,
            "sample_s": 0.03,
            "timeout_s": 20.0,
            "lock_s": 0.0,
            "lock_folder": self.locks,
        }
        return MeasureRequest(**(short | fields))  # pyright: ignore[reportArgumentType]
