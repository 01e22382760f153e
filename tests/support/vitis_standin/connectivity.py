"""The checks of v++'s system linker: kernels, ports, memories and dies that the configuration names."""

import re
from dataclasses import dataclass
from typing import NoReturn, Protocol

from vitis_standin.call import Call, ToolExit
from vitis_standin.config_file import Setting
from vitis_standin.faults import link_failed
from vitis_standin.sources import XoKernel

_MEMORY = re.compile(r"(HBM|DDR|PLRAM)\[(\d+)(?::(\d+))?\]")
_BANKS = {"HBM": 32, "DDR": 0, "PLRAM": 6}  # of the U55C
_DIES = {"SLR0", "SLR1", "SLR2"}
_NAME = 64  # bytes of `m_name` in `ip_data` (XRT, xclbin.h), with the zero behind it


class Settings(Protocol):
    @property
    def settings(self) -> list[Setting]: ...


@dataclass(frozen=True)
class Unit:
    """A compute unit; `memories` argument -> memory as sp= says ("HBM[2]"), HBM[0] for the others."""

    name: str
    kernel: XoKernel
    memories: dict[str, str]


def connect(call: Call, options: Settings, kernels: dict[str, XoKernel]) -> list[Unit]:
    """The compute units. Ends the tool for a name that no .xo has, and for a memory that the card has not."""
    units = _units(call, options, kernels)
    for setting in options.settings:
        value = setting.value
        if setting.name == "connectivity.sp":
            _memory(call, units, value)
        elif setting.name == "connectivity.slr":
            name, _, die = value.partition(":")
            if name not in units:
                _end(call, "CFGEN 83-2290", f"--slr tag applied to invalid kernel instance: {name}")
            if die not in _DIES:
                _end(call, "CFGEN 83-2290", f"--slr tag names a die that the platform has not: {die}")
        elif setting.name == "clock.freqHz":
            _clock(call, units, value)
    return list(units.values())


def _units(call: Call, options: Settings, kernels: dict[str, XoKernel]) -> dict[str, Unit]:
    names = {kernel: [f"{kernel}_1"] for kernel in kernels}
    for value in (s.value for s in options.settings if s.name == "connectivity.nk"):
        kernel, count, *rest = value.split(":")
        if kernel not in kernels:
            _end(call, "CFGEN 83-2285", f"--nk tag applied to a kernel that no .xo file holds: {kernel}")
        given = rest[0].split(".") if rest else [f"{kernel}_{k + 1}" for k in range(int(count))]
        if len(given) != int(count):
            _end(call, "CFGEN 83-2286", f"--nk tag names {len(given)} instances of {kernel}, not {count}")
        for name in (f"{kernel}:{unit}" for unit in given):
            if len(name) >= _NAME:  # as xclbinutil ends, hours later
                _end(
                    call, "XCLBINUTIL", f"The m_name entry length ({len(name)}), exceeds the allocated space: '{name}'"
                )
        names[kernel] = given
    return {
        name: Unit(name, kernels[kernel], dict.fromkeys(kernels[kernel].memories, "HBM[0]"))
        for kernel, given in names.items()
        for name in given
    }


def _memory(call: Call, units: dict[str, Unit], value: str) -> None:
    target, _, memory = value.partition(":")
    name, _, argument = target.partition(".")
    if name not in units:
        _end(call, "CFGEN 83-2291", f"--sp tag applied to invalid kernel instance: {name}")
    kernel = units[name].kernel
    meant = [a for a in kernel.memories if argument in {a, kernel.arguments[a]}]
    if not meant:
        _end(call, "CFGEN 83-2292", f"--sp tag applied to an invalid port or argument name: {argument}")
    match = _MEMORY.fullmatch(memory)
    if match is None or max(int(match[2]), int(match[3] or 0)) >= _BANKS[match[1]]:
        _end(call, "CFGEN 83-2287", f"--sp tag names a memory resource that the platform has not: {memory}")
    call.info("CFGEN 83-0", f"  kernel: {name}, k_port: {argument}, sptag: {memory}")
    units[name].memories.update(dict.fromkeys(meant, memory))


def _clock(call: Call, units: dict[str, Unit], value: str) -> None:
    frequency, _, names = value.partition(":")
    if not frequency.isdecimal():
        _end(call, "CFGEN 83-2243", "Malformed --clock.freqHz switch argument")
    for name in filter(None, names.split(",")):
        if name.partition(".")[0] not in units:
            _end(call, "CFGEN 83-2243", "Malformed --clock.freqHz switch argument")


def _end(call: Call, code: str, text: str) -> NoReturn:
    call.error(code, text)
    call.error("CFGEN 83-2298", "Exiting due to previous error")
    call.error("SYSTEM_LINK 82-36", "[02:25:57] cfgen failed")
    link_failed(call, "system_link")
    raise ToolExit(1)
