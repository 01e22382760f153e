"""The likely cause of a difference: what changed between two runs that can have had a part in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_DESIGN = ("lower", "csim", "csynth")
SOURCES: Mapping[str, tuple[str, ...]] = {
    "search": ("lower", "search"),
    "simulate": ("lower", "simulate"),
    "csim": ("lower", "csim"),
    "csynth": _DESIGN,
    "cosim": (*_DESIGN, "cosim"),
    "link": (*_DESIGN, "link"),
    "measure": (*_DESIGN, "link", "measure"),
}
"""The stages whose tools have a part in what a stage says about one design."""
UNKNOWN = "nothing that Millrace knows of changed: suspect the node or nondeterminism"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a run's results came from.

    `tools` maps each stage to its tools' versions; `settings` what was asked for (budget, seed, platform, the
    workload's digest ...) to its value as text; `nodes` each stage to the machines that ran it.
    """

    tools: Mapping[str, Mapping[str, str]]
    settings: Mapping[str, str]
    nodes: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was. `stages` it is about, none where it is about all; a `node` is a weak reason."""

    what: str
    before: str
    after: str
    stages: frozenset[str] = frozenset()
    node: bool = False

    @property
    def text(self) -> str:
        return f"{self.what} {self.before} -> {self.after}"


def changes(before: Circumstances, after: Circumstances) -> tuple[Change, ...]:
    """What differs between the two, tools first. A stage that only one of them ran says nothing."""
    return (*_tools(before, after), *_settings(before, after), *_nodes(before, after))


def likely(found: Iterable[Change], stage: str | None) -> tuple[Change, ...]:
    """Those changes that can have had a part in what `stage` says; None: in what the whole exploration says.

    Another node is named only where nothing else changed, or where the node itself is measured.
    """
    sources = None if stage is None else frozenset(SOURCES[stage])
    relevant = [c for c in found if sources is None or not c.stages or c.stages & sources]
    strong = [c for c in relevant if not c.node or stage == "measure"]
    return tuple(strong or relevant)


def cause_text(found: Iterable[Change]) -> str:
    """The changes as the end of a sentence."""
    texts = list(dict.fromkeys(change.text for change in found))
    return f"changed since: {', '.join(texts)}" if texts else UNKNOWN


def _tools(before: Circumstances, after: Circumstances) -> list[Change]:
    """One change for a tool whose versions changed in the same way, with all the stages that it is about."""
    stages: dict[tuple[str, str, str], set[str]] = {}
    for stage in before.tools.keys() & after.tools.keys():
        was, now = before.tools[stage], after.tools[stage]
        for tool in was.keys() | now.keys():
            pair = (was.get(tool, "none"), now.get(tool, "none"))
            if pair[0] != pair[1]:
                stages.setdefault((tool, *pair), set()).add(stage)
    return [Change(*what, frozenset(found)) for what, found in sorted(stages.items())]


def _settings(before: Circumstances, after: Circumstances) -> list[Change]:
    was, now = before.settings, after.settings
    names = dict.fromkeys((*was, *now))
    return [
        Change(name, was.get(name, "none"), now.get(name, "none")) for name in names if was.get(name) != now.get(name)
    ]


def _nodes(before: Circumstances, after: Circumstances) -> list[Change]:
    return [
        Change(f"node of {stage}", _names(was), _names(now), frozenset({stage}), node=True)
        for stage in sorted(before.nodes.keys() & after.nodes.keys())
        if (was := before.nodes[stage]) != (now := after.nodes[stage]) and was and now
    ]


def _names(nodes: Iterable[str]) -> str:
    return "|".join(sorted(nodes))
