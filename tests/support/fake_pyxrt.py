"""pyxrt's interface over the interpreter: each design is computed in numpy when its last kernel runs.

An xclbin is a file in a design directory, or `Faults.design` says where the design is. Strict where XRT is: contents
move by `sync` only, an argument takes buffers of its own memory group only, and loading an xclbin ends what the one
before had. `Faults` is what a test breaks, in the `pyxrt.py` that it writes for a process of its own:
`from fake_pyxrt import *; Faults.hangs = "k1"`.
"""

import json
import os
import struct
import tempfile
import time
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from compiler.analysis.rows import kept_rows
from compiler.frontend.graph_json import graph_from_json
from compiler.frontend.interpret import NUMPY_DTYPE, interpret
from compiler.host.design import Design, Image, load_design
from compiler.host.packing import pack, unpack


class Faults:
    """What goes wrong on this board, and what its sensor says."""

    busy = False  # another process has loaded another design
    refused_after: int | None = None  # so many buffers fit
    hangs = ""  # the kernel that never ends, whose `wait` returns after its time
    freezes = ""  # the kernel whose `wait` never returns
    wrong_from: int | None = None  # run from which on results are off
    crashes = False  # the process dies in the first run
    sensor = True
    design = "."  # where the design lies, seen from the folder of its xclbin
    idle_w, run_w = 20.0, 45.0
    start_ns = token_ns = prompt_ns = 0  # where given, a clock of its own counts starts of kernels and tokens alone
    now_ns = 0
    refresh_s = 0.02  # of the sensor: in between it repeats itself
    # Processes see through it whether a kernel runs: the one that reads the sensor is not the one that runs kernels.
    activity = Path(tempfile.gettempdir()) / "millrace-fake-board"


def _active_until(when: float) -> None:
    Faults.activity.touch()
    os.utime(Faults.activity, (when, when))


class xclBOSyncDirection:  # noqa: N801 # pyxrt's names
    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1


class ert_cmd_state:  # noqa: N801
    ERT_CMD_STATE_COMPLETED = 4
    ERT_CMD_STATE_ERROR = 5
    ERT_CMD_STATE_ABORT = 6
    ERT_CMD_STATE_TIMEOUT = 8


class xrt_info_device(Enum):  # noqa: N801
    bdf = 0
    electrical = 8


class xclbin:  # noqa: N801
    def __init__(self, path: str) -> None:
        self.design = Path(path).parent / Faults.design


class Loaded:
    """A design, its network, and what was passed to its kernels since the last result."""

    def __init__(self, directory: Path) -> None:
        self.design: Design = load_design(directory)
        self.graph = graph_from_json(json.loads((directory / "tb" / "graph.json").read_text()))
        self.memory: dict[tuple[str, int], bytearray] = {}
        self.scalars: dict[str, int] = {}
        self.arguments: dict[str, int] = {}
        self.runs = 0
        self.buffers = 0

    def group(self, name: str, argument: int) -> int:
        """One for each channel of each image."""
        kernel = next(k for k in self.design.kernels if k.name == name)
        return sorted({c for k in self.design.kernels for c in k.channels}).index(kernel.channels[argument])

    def compute(self) -> None:
        """A token after the other, where a launch makes several."""
        told = self.arguments
        while True:
            values = self._compute()
            given = told.get("position", 0) < told.get("first", 0)
            Faults.now_ns += Faults.prompt_ns if given else Faults.token_ns
            if "until" not in told or told["position"] >= told["until"]:
                return
            if told["position"] >= told["first"] and values["token"] == told["end"]:
                return
            told |= {"token": int(values["token"]), "position": told["position"] + 1}

    def _compute(self) -> dict[str, Any]:
        """One; results by their names."""
        images = self.design.images.values()
        tensors: dict[str, Any] = {}
        for image in images:
            if image.role in ("param", "input", "kept"):
                channels = [bytes(self.memory[image.name, c]) for c in range(image.layout.channels)]
                held = unpack(channels, image.layout)
                several = 1 if len(image.sources) == len(held) else 2  # of each layer one, or several
                parts = held.reshape(-1, *held.shape[several:]) if image.stacked else [held]
                tensors |= zip(image.sources, parts, strict=True)
        rows = {v.source: v.row for v in self.graph.values if v.row is not None}
        tensors |= {source: tensors[source][self.arguments[row.argument]] for source, row in rows.items()}
        for scalar in self.design.scalars:
            dtype = NUMPY_DTYPE[scalar.dtype]
            tensors[scalar.source] = np.frombuffer(struct.pack("<i", self.scalars[scalar.value]), dtype).reshape(())
        values, value_of = interpret(self.graph, tensors), {out.name: out.value for out in self.graph.outputs}
        self.runs += 1
        off = 1.0 if Faults.wrong_from is not None and self.runs >= Faults.wrong_from else 0.0
        for image in images:
            if image.role == "output":
                made = [values[value_of[r.name]] for r in self.design.results if r.image == image.name]
                result = (np.stack(made) + off).astype(made[0].dtype)
                if any(r.rows is not None for r in self.design.results if r.image == image.name):
                    held = unpack(
                        [bytes(self.memory[image.name, c]) for c in range(image.layout.channels)], image.layout
                    )
                    result, row = held.reshape(image.shape), result[0]
                    result[self.arguments["position"]] = row
                for c, content in enumerate(pack(result.reshape(image.shape), image.layout)):
                    self.memory[image.name, c][:] = content
            if image.role == "kept":
                self._keep(image, values, tensors)
        return {name: values[value] for name, value in value_of.items()}

    def _keep(self, image: Image, values: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
        """The new row of a state beside those that were there."""
        state_of = {source: v.name for v in self.graph.values for source in v.tensors}
        made_of = {row.state: (made, row) for made, row in kept_rows(self.graph).items()}
        states = []
        for source in image.sources:
            made, kept = made_of[state_of[source]]
            state = np.array(tensors[source]).reshape(self.graph.value[kept.state].shape)
            np.moveaxis(state, kept.axis, 0)[self.arguments[kept.row.argument]] = values[made]
            states.append(state)
        for c, content in enumerate(pack(np.stack(states).reshape(image.shape), image.layout)):
            self.memory[image.name, c][:] = content


class device:  # noqa: N801
    def __init__(self, name: int | str) -> None:
        self.name = name
        self.loaded: Loaded | None = None
        if Faults.start_ns:
            time.perf_counter_ns = lambda: Faults.now_ns

    def load_xclbin(self, binary: xclbin) -> Loaded:
        if Faults.busy:
            raise RuntimeError("load_axlf: Device or resource busy")
        self.loaded = Loaded(binary.design)
        return self.loaded

    def get_info(self, key: xrt_info_device) -> str:
        """Watts drift by a milliwatt a reading, as measured ones do."""
        if key is not xrt_info_device.electrical or not Faults.sensor:
            return str(self.name)
        now = time.time()
        active = Faults.activity.exists() and now - Faults.activity.stat().st_mtime < 0.1
        reading = int(now / Faults.refresh_s)
        watts = (Faults.run_w if active else Faults.idle_w) + 0.001 * (reading % 7)
        return json.dumps(
            {
                "power_rails": [
                    {
                        "id": "12v_pex",
                        "description": "12 Volts PCI Express",
                        "voltage": {"volts": "12.000", "is_present": "true"},
                        "current": {"amps": f"{watts / 12:.3f}", "is_present": "true"},
                    }
                ],
                "power_consumption_max_watts": "NA",
                "power_consumption_watts": f"{watts:.6f}",
                "power_consumption_warning": "false",
            }
        )


class bo:  # noqa: N801
    normal = 0

    def __init__(self, board: device, size: int, _flags: int, group: int) -> None:
        assert board.loaded is not None
        board.loaded.buffers += 1
        if Faults.refused_after is not None and board.loaded.buffers > Faults.refused_after:
            raise RuntimeError(f"unable to allocate {size} bytes: Cannot allocate memory")
        self.board, self.loaded, self.group = board, board.loaded, group
        self.host, self.content = bytearray(size), bytearray(size)

    def map(self) -> memoryview:
        return memoryview(self.host)

    def sync(self, direction: int, size: int, offset: int) -> None:
        if self.board.loaded is not self.loaded or offset + size > len(self.host):
            raise RuntimeError("the buffer's design is not loaded, or it is smaller")
        there, here = (self.content, self.host) if direction == 0 else (self.host, self.content)
        there[offset : offset + size] = here[offset : offset + size]


class kernel:  # noqa: N801
    exclusive = 0
    state = ert_cmd_state.ERT_CMD_STATE_COMPLETED

    def __init__(self, _board: device, loaded: Loaded, name: str, _mode: int) -> None:
        self.loaded, self.name = loaded, name
        self.entry = next(k for k in loaded.design.kernels if k.name == name)

    def group_id(self, argument: int) -> int:
        return self.loaded.group(self.name, argument)


class run:  # noqa: N801
    def __init__(self, called: kernel) -> None:
        self.kernel = called
        self.arguments: dict[int, Any] = {}

    def set_arg(self, position: int, argument: Any) -> None:
        loaded, entry = self.kernel.loaded, self.kernel.entry
        if position >= len(entry.channels):
            assert isinstance(argument, int), "the real one takes nothing else"
        elif argument.loaded is not loaded or argument.group != self.kernel.group_id(position):
            raise RuntimeError(f"argument {position} of {entry.name} is in another memory group")
        self.arguments[position] = argument

    def start(self) -> None:
        loaded, entry = self.kernel.loaded, self.kernel.entry
        assert len(self.arguments) == len(entry.channels) + len(entry.scalars) + len(entry.arguments)
        if Faults.crashes:
            raise SystemExit(3)
        Faults.now_ns += Faults.start_ns
        for position, key in enumerate(entry.channels):
            loaded.memory[key] = self.arguments[position].content
        first = len(entry.channels)
        numbers = [self.arguments[first + i] for i in range(len(self.arguments) - first)]
        loaded.scalars |= zip(entry.scalars, numbers, strict=False)
        loaded.arguments |= zip(entry.arguments, numbers[len(entry.scalars) :], strict=True)
        _active_until(time.time() + 3600)  # however long this machine lets it wait
        if entry.name == loaded.design.kernels[-1].name:
            loaded.compute()

    def wait(self, timeout_ms: int = 0) -> int:
        _active_until(time.time())
        if self.kernel.name == Faults.freezes:
            time.sleep(3600)
        if self.kernel.name == Faults.hangs:
            time.sleep(timeout_ms / 1e3)
            return ert_cmd_state.ERT_CMD_STATE_TIMEOUT
        return self.kernel.state
