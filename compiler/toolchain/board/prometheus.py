"""Board sensors as a Prometheus exporter prints them: `xrt_device_power_consumption{device_id="..."} 49.6`."""

import re
from dataclasses import dataclass

from compiler.toolchain.board.sensors import BoardReading, Examine, Rail, Temperature, warnings
from compiler.toolchain.numbers import damaged, number
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_SAMPLE = re.compile(r'(xrt_\w+)\{((?:\w+="[^"]*",?)*)\} (\S+)')
_LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class _Sample:
    name: str
    labels: dict[str, str]
    value: float


def is_prometheus(source: Source) -> bool:
    return "# TYPE xrt_" in source.text[:4000]


def parse_prometheus(source: Source) -> Examine:
    """Raises ReportError for another file and for one that is cut within a line or has no power of a board."""
    if not is_prometheus(source):
        raise source.foreign("the metrics of a board exporter", "the text that the exporter serves under /metrics")
    if not source.text.endswith("\n"):
        raise source.truncated("its last line has no end")
    samples = [_sample(source, line) for line in source.lines if line.strip() and not line.startswith("#")]
    devices: dict[str, list[_Sample]] = {}
    for sample in samples:
        if "device_id" in sample.labels:
            devices.setdefault(sample.labels["device_id"], []).append(sample)
    boards = tuple(_board(mine, device) for device, mine in devices.items())
    if not boards or any(board.power_w is None for board in boards):
        raise source.truncated("it has no power of a board")
    version = next((s.labels.get("version", "") for s in samples if s.name == "xrt_info"), "")
    return Examine(boards, version, _not_ready(samples) + warnings(boards))


def _sample(source: Source, line: str) -> _Sample:
    match = _SAMPLE.fullmatch(line)
    value = number(source, match[3], match[1]) if match else None
    if match is None or value is None:
        raise damaged(source, line, "a sample", "a name, labels and a number")
    return _Sample(match[1], dict(_LABEL.findall(match[2])), value)


def _not_ready(samples: list[_Sample]) -> tuple[Failure, ...]:
    lever = "reset the board with xbutil reset, or load its shell again"
    return tuple(
        Failure("device", "the board is not ready", s.labels.get("device_id", ""), lever)
        for s in samples
        if s.name == "xrt_device_ready" and s.value == 0
    )


def _board(samples: list[_Sample], device: str) -> BoardReading:
    single = {s.name: s.value for s in samples if "location_id" not in s.labels}
    labels = next((s.labels for s in samples if "serial" in s.labels), samples[0].labels)
    warning = single.get("xrt_device_power_consumption_warning")
    return BoardReading(
        device,
        labels.get("shell", ""),
        single.get("xrt_device_power_consumption"),
        single.get("xrt_device_power_consumption_max"),
        None if warning is None else bool(warning),
        _rails(samples),
        tuple(
            Temperature(s.labels["location_id"], s.labels.get("description", ""), s.value)
            for s in samples
            if s.name == "xrt_device_temperature" and "location_id" in s.labels
        ),
        {"serial": labels["serial"]} if "serial" in labels else {},
    )


def _rails(samples: list[_Sample]) -> tuple[Rail, ...]:
    volts, amps = (
        {s.labels["location_id"]: s for s in samples if s.name == f"xrt_device_{what}" and "location_id" in s.labels}
        for what in ("voltage", "current")
    )
    found: list[Rail] = []
    for place in dict.fromkeys((*volts, *amps)):
        v, a = volts.get(place), amps.get(place)
        description = next(s.labels.get("description", "") for s in (v, a) if s)
        found.append(Rail(place, description, v.value if v else None, a.value if a else None))
    return tuple(found)
