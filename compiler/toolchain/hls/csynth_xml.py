"""Reader of `csynth.xml` and `<top>_csynth.xml`, versions 2019.2 to 2025.2.

`csynth.xml` is about the whole design and lists its modules; `<top>_csynth.xml` is about the top module alone (in
2019.2 with its loops).
"""

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from compiler.toolchain.hls.bindings import fifos, memories, operators
from compiler.toolchain.hls.csynth import (
    Clock,
    CsynthReport,
    Issue,
    Loop,
    Module,
    Span,
    is_pipelined,
    issue_kind,
    style_of,
    timing_issue,
)
from compiler.toolchain.hls.hierarchy import Hierarchy
from compiler.toolchain.hls.xml_fields import Fields
from compiler.toolchain.source import Source
from compiler.toolchain.xml_text import xml_root

GIVE = "<solution>/syn/report/csynth.xml"
PERFORMANCE, LATENCY = "PerformanceEstimates", "PerformanceEstimates/SummaryOfOverallLatency"
TIMING = "PerformanceEstimates/SummaryOfTimingAnalysis"


def is_csynth_xml(source: Source) -> bool:
    return "<profile>" in source.text[:2000] and "<UserAssignments>" in source.text[:4000]


def parse_csynth_xml(source: Source) -> CsynthReport:
    """Raises ReportError for another file and where a required value is missing."""
    if not is_csynth_xml(source):
        raise source.foreign("a csynth report", GIVE)
    fields, root = Fields(source), xml_root(source)
    top = fields.text(root, "UserAssignments/TopModelName")
    modules = _modules(fields, root) or (_lone_module(fields, root, top),)
    if all(m.name != top for m in modules):
        raise source.truncated(f"the top module {top} is not among the modules")
    return CsynthReport(
        version=fields.text(root, "ReportVersion/Version"),
        part=fields.text(root, "UserAssignments/Part"),
        top=top,
        flow=root.findtext("UserAssignments/FlowTarget", ""),
        clock=_clock(fields, root, "UserAssignments"),
        available=fields.area(root, "AreaEstimates/AvailableResources"),
        modules=modules,
        fifos=fifos(fields, root),
        memories=memories(fields, root),
        operators=operators(fields, root),
    )


def _clock(fields: Fields, element: Element, constraints: str) -> Clock:
    """Target and uncertainty stand under `constraints`, the estimate under the performance."""
    return Clock(
        fields.number(element, f"{constraints}/TargetClockPeriod"),
        fields.number(element, f"{constraints}/ClockUncertainty"),
        fields.number(element, f"{TIMING}/EstimatedClockPeriod"),
    )


def _modules(fields: Fields, root: Element) -> tuple[Module, ...]:
    """The modules of a whole design, those that are called before those that call them."""
    hierarchy = Hierarchy.of(root)
    return tuple(
        _module(
            fields,
            element,
            name=fields.text(element, "Name"),
            pipeline=fields.text(element, f"{LATENCY}/PipelineType"),
            interval=fields.span(element, f"{LATENCY}/PipelineInitiationInterval"),
            clock=_clock(fields, element, TIMING),
            hierarchy=hierarchy,
        )
        for element in root.findall("ModuleInformation/Module")
    )


def _lone_module(fields: Fields, root: Element, top: str) -> Module:
    """The top module, when the report is about it alone."""
    interval = (fields.integer(root, f"{LATENCY}/Interval-{end}") for end in ("min", "max"))
    return _module(
        fields,
        root,
        name=top,
        pipeline=fields.text(root, f"{PERFORMANCE}/PipelineType"),
        interval=Span(*interval),
        clock=_clock(fields, root, "UserAssignments"),
        hierarchy=Hierarchy(),
    )


def _module(
    fields: Fields, element: Element, *, name: str, pipeline: str, interval: Span, clock: Clock, hierarchy: Hierarchy
) -> Module:
    fields.text(element, f"{LATENCY}/Worst-caseLatency")
    loops = element.find(f"{PERFORMANCE}/SummaryOfLoopLatency")
    instances = hierarchy.instances.get(name, {})
    return Module(
        name=name,
        pipeline=pipeline,
        latency=Span(
            fields.integer(element, f"{LATENCY}/Best-caseLatency"),
            fields.integer(element, f"{LATENCY}/Worst-caseLatency"),
        ),
        interval=interval,
        area=fields.area(element, "AreaEstimates/Resources"),
        slack=clock.slack,
        average=fields.integer(element, f"{LATENCY}/Average-caseLatency"),
        depth=fields.span(element, f"{LATENCY}/PipelineDepth").worst,
        loops=tuple(_loop(fields, loop, instances) for loop in loops) if loops is not None else (),
        calls=tuple(dict.fromkeys(instances.values())),
        issues=timing_issue(name, clock.slack) + tuple(_issues(element, name)),
    )


def _loop(fields: Fields, element: Element, instances: Mapping[str, str]) -> Loop:
    """A loop; what is below it and has a tripcount is a loop inside."""
    inner = [child for child in element if child.find("TripCount") is not None]
    ii = fields.span(element, "PipelineII").worst
    depth = fields.span(element, "PipelineDepth")
    names = [(i.text or "").strip() for i in element.findall("InstanceList/Instance")]
    return Loop(
        name=(element.findtext("Name") or element.tag).strip(),
        trips=fields.span(element, "TripCount"),
        latency=fields.span(element, "Latency"),
        iteration=depth if depth != Span() else fields.span(element, "IterationLatency"),
        ii=ii,
        pipelined=ii is not None and is_pipelined(element.findtext("PipelineType", "yes")),
        style=style_of(element.findtext("PipelineType", "")),
        loops=tuple(_loop(fields, child, instances) for child in inner),
        calls=tuple(instances.get(name, name) for name in names),
    )


def _issues(element: Element, module: str) -> Iterator[Issue]:
    """Issues but those of timing, which follow from the slack: the tool does not name them all."""
    violations = element.find(f"{PERFORMANCE}/SummaryOfViolations")
    if violations is None:
        return
    for found in violations.iter():
        text = (found.findtext("IssueType") or "-").strip()
        if text == "-" or issue_kind(text) == "timing":
            continue
        cause = (found.findtext("ViolationType") or "-").strip()
        yield Issue(
            kind=issue_kind(text),
            module=module,
            loop="" if found is violations else (found.findtext("Name") or found.tag).strip(),
            cause=cause if cause != "-" else text,
            source=(found.findtext("SourceLocation") or "").strip(),
        )
