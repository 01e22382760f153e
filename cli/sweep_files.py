"""A run of a sweep as files that other systems read: JUnit's XML, and a summary in Markdown."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cli.output import share
from millrace.numbers import number

if TYPE_CHECKING:
    from millrace.wire import Regression, SlotComparison, SweepRun

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REGRESSIONS = 50


def junit(run: "SweepRun") -> str:
    """One test case an exploration: a failure where it got worse, an error where it failed, skipped where cancelled.

    A run that ended without comparing anything is one case, with why.
    """
    cases = [_case(run, slot) for slot in run.slots] or [_whole(run)]
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    seconds = (run.finished_at - run.created_at).total_seconds() if run.finished_at else 0.0
    sums = {**{name: str(count) for name, count in counts.items()}, "time": f"{seconds:.3f}"}
    suites = Element("testsuites", sums)
    suite = SubElement(
        suites, "testsuite", {"name": f"millrace sweep {run.sweep}", "timestamp": f"{run.created_at:%FT%T}", **sums}
    )
    properties = SubElement(suite, "properties")
    for name, value in _facts(run):
        SubElement(properties, "property", {"name": name, "value": _text(value)})
    suite.extend(cases)
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, "unicode") + "\n"


def _case(run: "SweepRun", slot: "SlotComparison") -> Element:
    case = Element("testcase", {"classname": f"millrace.{run.sweep}", "name": _text(slot.slot), "time": "0"})
    worse = [r.text for r in run.regressions if r.slot == slot.slot]
    if slot.result == "regressed":
        message = worse[0] if worse else "regressed"
        SubElement(case, "failure", {"type": "regressed", "message": _text(message)}).text = _text("\n".join(worse))
    elif slot.result == "failed":
        why = _text(slot.error or "failed")
        SubElement(case, "error", {"type": "failed", "message": why}).text = why
    elif slot.result == "cancelled":
        SubElement(case, "skipped", {"message": "cancelled"})
    return case


def _whole(run: "SweepRun") -> Element:
    case = Element("testcase", {"classname": f"millrace.{run.sweep}", "name": run.id, "time": "0"})
    if run.state in ("failed", "cancelled", "regressed"):
        SubElement(case, "error", {"type": run.state, "message": _text(run.error or run.state)})
    return case


def _facts(run: "SweepRun") -> list[tuple[str, str]]:
    facts = [("run", run.id), ("state", run.state), ("baseline", run.baseline_id or "the first run")]
    facts += [("hypervolume index", f"{run.index:.6g}")] if run.index is not None else []
    return [*facts, *(("tool " + name, version) for name, version in sorted(run.tool_versions.items()))]


def _text(text: str) -> str:
    """Without the characters that XML has no way to write."""
    return _NOT_XML.sub("?", text)


def summary(run: "SweepRun") -> str:
    """What GitHub's job summary and GitLab's merge requests show: the verdict, what got worse and why, the fronts."""
    lines = [f"## Sweep {_cell(run.sweep)}: {run.state}", ""]
    lines += [f"- {name}: {_cell(value)}" for name, value in _facts(run)[:4]]
    if run.error:
        lines.append(f"- {_cell(run.error)}")
    if run.regressions:
        lines += ["", f"### Worse ({run.regression_count})", "", *_regressions(run.regressions)]
        left = run.regression_count - len(run.regressions[:_REGRESSIONS])
        lines += [f"- and {left} more: `millrace sweep show {run.id} --json`"] if left > 0 else []
    if run.slots:
        lines += ["", "### Explorations", "", "| exploration | result | front | hypervolume |", "|---|---|---|---|"]
        lines += [_slot(slot) for slot in run.slots]
    return "\n".join(lines) + "\n"


def _regressions(found: Sequence["Regression"]) -> list[str]:
    return [f"- {_cell(r.slot)}: {_cell(r.text)}" for r in found[:_REGRESSIONS]]


def _slot(slot: "SlotComparison") -> str:
    fronts, volumes = "", ""
    if slot.fronts:
        best = slot.fronts[-1]
        fronts = f"{best.before} → {best.after} designs ({best.fidelity})"
        change = "" if best.change is None else f" ({share(best.change, signed=True)})"
        volumes = f"{number(best.hypervolume_before)} → {number(best.hypervolume_after)}{change}"
    return f"| {_cell(slot.slot)} `{slot.exploration}` | {slot.result} | {fronts} | {volumes} |"


def _cell(text: str) -> str:
    """Text in a table or list: what Markdown and HTML would read otherwise is written out."""
    plain = re.sub(r"\s+", " ", text)
    return re.sub(r"([\\`*_|\[\]#~$])", r"\\\1", plain).replace("&", "&amp;").replace("<", "&lt;")
