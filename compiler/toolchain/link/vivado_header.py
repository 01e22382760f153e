"""The box at the top of every Vivado report: which command wrote it, and of which stage of the design.

| Tool Version : Vivado v.2023.2 (lin64) Build 4029153
| Command      : report_qor_assessment -file qor.rpt
| Device       : xcu55c-fsvh2892-2L-e
| Design State : Routed
"""

import re
from dataclasses import dataclass

from compiler.toolchain.ascii_table import Table, is_border, read_table
from compiler.toolchain.source import Source

HEADER_LINES = 30
_FIELD = re.compile(r"\| ([A-Z][A-Za-z ]*): (.*)")
_VERSION = re.compile(r"v\.?(\d{4}\.\d+)")
_STAGES = frozenset({"Routed", "routed"})


@dataclass(frozen=True, slots=True)
class VivadoHeader:
    """`state` is as Vivado writes it: "Optimized", "Fully Placed", "Routed"; "" for what the box does not tell."""

    command: str
    device: str
    state: str
    tool_version: str

    @property
    def routed(self) -> bool:
        """Whether the numbers are of the routed design; the name of the file does not tell."""
        return self.state in _STAGES


def vivado_header(source: Source) -> VivadoHeader:
    """The fields of the box; all are empty in a file without one."""
    fields = {m[1].strip(): m[2] for line in source.lines[:HEADER_LINES] if (m := _FIELD.match(line))}
    version = _VERSION.search(fields.get("Tool Version", ""))
    return VivadoHeader(
        fields.get("Command", ""),
        fields.get("Device", "").strip(),
        fields.get("Design State", "").strip(),
        version[1] if version else "",
    )


def written_by(source: Source, command: str) -> bool:
    """Whether the Vivado command `command` ("report_power", options may follow) wrote the report."""
    return f"{vivado_header(source).command} ".startswith(f"{command} ")


def section(source: Source, title: str) -> int:
    """Line after the heading "2.1 title" and the dashes under it. Raises ReportError where the report has none."""
    heading = re.compile(r"\d+(\.\d+)*\.? " + title)
    for at, line in enumerate(source.lines[:-1]):
        if heading.match(line) and _is_rule(source.lines[at + 1]):
            return at + 2
    raise source.truncated(f"it has no section {title!r}")


def section_table(source: Source, title: str) -> Table:
    """The first table of the section `title`. Raises ReportError where there is none."""
    at = section(source, title)
    while at < len(source.lines) and not source.lines[at].strip():
        at += 1
    if at == len(source.lines) or not is_border(source.lines[at]):
        raise source.truncated(f"the section {title!r} has no table")
    return read_table(source, at)


def _is_rule(line: str) -> bool:
    return line.startswith("---") and not line.strip("-")
