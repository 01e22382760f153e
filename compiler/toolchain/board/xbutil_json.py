"""`xbutil examine --format JSON` and what pyxrt's `get_info` returns: sensors and platform of boards.

Numbers and flags are strings in most versions; a sensor that the board lacks is there with `is_present` "false".
"""

from collections.abc import Iterator

from compiler.toolchain.board.sensors import BoardReading, Examine, Rail, Temperature, warnings
from compiler.toolchain.json_text import Node, json_root, looks_like_json
from compiler.toolchain.source import Source

_KEYS = ('"power_consumption_watts"', '"power_rails"', '"thermals"', '"platforms"', '"electrical"')
_EXPECTED = "the sensors of a board as JSON"
_GIVE = "the file of xbutil examine --format JSON, or the text of pyxrt's get_info(electrical)"


def is_xbutil_json(source: Source) -> bool:
    return looks_like_json(source) and any(key in source.text for key in _KEYS)


def parse_xbutil_json(source: Source) -> Examine:
    """Raises ReportError for another file, for one that is cut, and for a sensor that is no number."""
    if not is_xbutil_json(source):
        raise source.foreign(_EXPECTED, _GIVE)
    root = json_root(source)
    boards = tuple(_board(node) for node in (root.get("devices").each() if root.has("devices") else (root,)))
    if not boards or any(not (b.rails or b.temperatures or b.facts) for b in boards):
        raise source.truncated("it lists no board with sensors or a platform")
    return Examine(boards, _xrt_version(root), warnings(boards))


def _xrt_version(root: Node) -> str:
    """Of the host section, where the report has one."""
    try_at = ("system", "host", "xrt", "version")
    node = root
    for key in try_at:
        if not node.has(key):
            return ""
        node = node.get(key)
    return node.text()


def _board(node: Node) -> BoardReading:
    electrical = node.get("electrical") if node.has("electrical") else node
    facts = _platform(node)
    return BoardReading(
        node.get("device_id").text() if node.has("device_id") else "",
        facts.get("static_region: vbnv", ""),
        _optional(electrical, "power_consumption_watts"),
        _optional(electrical, "power_consumption_max_watts"),
        electrical.get("power_consumption_warning").flag() if electrical.has("power_consumption_warning") else None,
        tuple(_rails(electrical)) if electrical.has("power_rails") else (),
        tuple(_temperatures(node)) if node.has("thermals") else (),
        facts,
    )


def _optional(node: Node, key: str) -> float | None:
    """A number of watts; XRT writes "N/A" or, for sensors that the driver lists, "NA" for one that is not there."""
    if not node.has(key) or node.get(key).text() in ("N/A", "NA"):
        return None
    return node.get(key).number()


def _rails(electrical: Node) -> Iterator[Rail]:
    """Rails of which a sensor is there."""
    for rail in electrical.get("power_rails").each():
        volts, amps = _sensor(rail, "voltage", "volts"), _sensor(rail, "current", "amps")
        if volts is not None or amps is not None:
            yield Rail(rail.get("id").text(), rail.get("description").text(), volts, amps)


def _sensor(rail: Node, quantity: str, unit: str) -> float | None:
    if not rail.has(quantity) or rail.get(quantity).get("is_present").flag() is not True:
        return None
    return rail.get(quantity).get(unit).number()


def _temperatures(node: Node) -> Iterator[Temperature]:
    for sensor in node.get("thermals").each():
        if sensor.get("is_present").flag() is True:
            celsius = sensor.get("temp_C").number()
            yield Temperature(sensor.get("location_id").text(), sensor.get("description").text(), celsius)


def _platform(node: Node) -> dict[str, str]:
    """What the platform report tells of the static region and the controller, and clocks as "clock: NAME"."""
    facts: dict[str, str] = {}
    for platform in node.get("platforms").each() if node.has("platforms") else ():
        for part in ("static_region", "controller", "status"):
            texts = _texts(platform.get(part)) if platform.has(part) else {}
            facts |= {f"{part}: {name}": text for name, text in texts.items()}
        for clock in platform.get("clocks").each() if platform.has("clocks") else ():
            facts[f"clock: {clock.get('id').text()}"] = f"{clock.get('freq_mhz').number()} MHz"
    return facts


def _texts(node: Node) -> dict[str, str]:
    """Text entries of an object, those of objects in it included."""
    found: dict[str, str] = {}
    for key in node.names():
        inner = node.get(key)
        found |= _texts(inner) if inner.names() else ({key: inner.text()} if inner.plain else {})
    return found
