"""`xbutil validate`, as text or JSON: which checks a board passes, and what the others say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from compiler.metrics import Metric
from compiler.toolchain.json_text import Node, json_root, looks_like_json
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_TEST = re.compile(r"Test (\d+) \[([0-9a-f:.]+)\] *: (\S.*?)\s*$")
_INDENT, _DEEP = " " * 4, " " * 20  # of a field, and of the lines that go on with one
_STATUS = re.compile(r"\[(PASSED|FAILED|SKIPPED)", re.IGNORECASE)
_END = re.compile(r"^Validation (failed|completed)", re.MULTILINE)
_LEVER = "run it again with --verbose; reset the board, or flash its shell again"


@dataclass(frozen=True, slots=True)
class Check:
    """`status` is "passed", "failed", "skipped" or "unknown" (neither a status nor an error was written)."""

    name: str
    device: str
    status: str
    details: tuple[str, ...]
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Validation:
    checks: tuple[Check, ...]
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """None: a check measures the board, not a design."""
        return ()


def is_validation(source: Source) -> bool:
    if looks_like_json(source):
        return '"tests"' in source.text and '"status"' in source.text
    return any(_TEST.match(line) for line in source.lines[:60])


def parse_validation(source: Source) -> Validation:
    """A failed check is a failure of the result. Raises ReportError for another file and for one that is cut."""
    if not is_validation(source):
        raise source.foreign("a validation of a board", "the output of xbutil validate")
    checks = tuple(_of_json(json_root(source)) if looks_like_json(source) else _of_text(source))
    failed = tuple(_failure(check) for check in checks if check.status == "failed")
    if not looks_like_json(source) and not _END.search(source.text):
        raise source.truncated("it does not say how the validation ended")
    if not checks:
        raise source.truncated("it lists no tests")
    overall = "Validation failed" in source.text and not failed
    return Validation(checks, (Failure("device", "the validation failed", "", _LEVER),) if overall else failed)


def _failure(check: Check) -> Failure:
    reason = next(iter(dict.fromkeys(check.errors)), "no reason given")
    times = f" ({len(check.errors)} times)" if len(check.errors) > 1 else ""
    return Failure("device", f"the board fails the check {check.name}: {reason}{times}", check.device, _LEVER)


def _of_text(source: Source) -> Iterator[Check]:
    starts = [i for i, line in enumerate(source.lines) if _TEST.match(line)]
    for start, stop in pairwise([*starts, len(source.lines)]):
        yield _check(source.lines[start:stop])


def _check(lines: list[str]) -> Check:
    head = _TEST.match(lines[0])
    fields: dict[str, list[str]] = {"Details": [], "Error(s)": []}
    key = ""
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if line.startswith(_DEEP) and key:
            fields[key].append(line.strip())
        elif line.startswith(_INDENT) and colon:
            key = name.strip()
            fields.setdefault(key, []).append(value.strip())
        else:
            key = ""
    said = _STATUS.search(" ".join(fields.get("Test Status", [])))
    status = said[1].lower() if said else ("failed" if fields["Error(s)"] else "unknown")
    return Check(
        head[3] if head else "", head[2] if head else "", status, tuple(fields["Details"]), tuple(fields["Error(s)"])
    )


def _of_json(root: Node) -> Iterator[Check]:
    for device in root.get("logical_devices" if root.has("logical_devices") else "devices").each():
        name = device.get("device_id").text() if device.has("device_id") else ""
        for test in device.get("tests").each():
            log = test.get("log").each() if test.has("log") else ()
            details, errors = (tuple(e.get(key).text() for e in log if e.has(key)) for key in ("Details", "Error(s)"))
            yield Check(test.get("name").text(), name, test.get("status").text().lower(), details, errors)
