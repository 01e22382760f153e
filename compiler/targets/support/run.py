#!/usr/bin/env python3
"""Run this design on a board: python3 run.py DESIGN.xclbin [--device 0] [--repeat 1]

Reads params/manifest.json beside this folder, puts the packed parameters and inputs into HBM, runs the kernels in
sequence and writes the results to out/, as C simulation does. Needs XRT with its Python module (pyxrt) only.
"""

import argparse
import importlib
import json
import struct
import sys
import time
from pathlib import Path
from typing import Any

DESIGN = Path(__file__).resolve().parent.parent


def load_pyxrt() -> Any:
    try:
        return importlib.import_module("pyxrt")
    except ImportError:
        sys.exit("pyxrt is missing: install XRT and run `source /opt/xilinx/xrt/setup.sh`, then try again")


def read_scalars(manifest: dict[str, Any]) -> dict[str, int]:
    """The 32 bits of each scalar as an int: pyxrt's kernel call drops arguments that are neither buffers nor ints."""
    content = (DESIGN / "params" / "scalars.bin").read_bytes()
    return {
        entry["value"]: struct.unpack_from("<i", content, 4 * position)[0]
        for position, entry in enumerate(manifest["scalars"])
    }


class Buffers:
    """One buffer object for each channel of each memory image, in the HBM bank that its kernel's argument is on."""

    def __init__(self, pyxrt: Any, device: Any, manifest: dict[str, Any]):
        self.pyxrt = pyxrt
        self.device = device
        self.images: dict[str, dict[str, Any]] = {image["name"]: image for image in manifest["images"]}
        self.objects: dict[tuple[str, int], Any] = {}

    def get(self, image: str, channel: int, bank: int) -> Any:
        """The channel's buffer, filled with its content when it is first asked for."""
        key = (image, channel)
        if key not in self.objects:
            self.objects[key] = self.pyxrt.bo(self.device, self.images[image]["bytes"], self.pyxrt.bo.normal, bank)
            if self.images[image]["role"] in ("param", "input"):
                self.objects[key].write(self.file(key).read_bytes(), 0)
                self.sync(key, self.pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE)
        return self.objects[key]

    def file(self, key: tuple[str, int]) -> Path:
        return DESIGN / self.images[key[0]]["channel_images"][key[1]]["file"]

    def sync(self, key: tuple[str, int], direction: Any) -> None:
        self.objects[key].sync(direction, self.images[key[0]]["bytes"], 0)

    def save_outputs(self) -> None:
        (DESIGN / "out").mkdir(exist_ok=True)
        for key, buffer in self.objects.items():
            if self.images[key[0]]["role"] == "output":
                self.sync(key, self.pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE)
                self.file(key).write_bytes(bytes(buffer.read(self.images[key[0]]["bytes"], 0)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Run this design on a board.")
    parser.add_argument("xclbin", type=Path)
    parser.add_argument("--device", type=int, default=0, help="number of the board (default 0)")
    parser.add_argument("--repeat", type=int, default=1, help="how often to run all kernels (default 1)")
    options = parser.parse_args()
    if not options.xclbin.is_file():
        parser.error(f"{options.xclbin} does not exist; build it with v++ -l, see README.md")

    pyxrt = load_pyxrt()
    manifest = json.loads((DESIGN / "params" / "manifest.json").read_text())
    scalars = read_scalars(manifest)
    device = pyxrt.device(options.device)
    uuid = device.load_xclbin(pyxrt.xclbin(str(options.xclbin)))
    buffers = Buffers(pyxrt, device, manifest)

    calls: list[tuple[Any, list[Any]]] = []
    for entry in manifest["kernels"]:
        kernel = pyxrt.kernel(device, uuid, entry["name"], pyxrt.kernel.exclusive)
        arguments = [
            buffers.get(b["image"], b["channel"], kernel.group_id(position))
            for position, b in enumerate(entry["buffers"])
        ]
        calls.append((kernel, [*arguments, *(scalars[name] for name in entry["scalars"])]))

    start = time.perf_counter()
    for _ in range(options.repeat):
        for kernel, arguments in calls:
            state = kernel(*arguments).wait()
            if state != pyxrt.ert_cmd_state.ERT_CMD_STATE_COMPLETED:
                sys.exit(f"a kernel ended as {state}; nothing is written to out/")
    seconds = (time.perf_counter() - start) / options.repeat
    buffers.save_outputs()
    print(f"{manifest['name']}: {seconds * 1e6:.1f} us a run (host clock), results in {DESIGN / 'out'}")


if __name__ == "__main__":
    main()
