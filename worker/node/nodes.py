"""What a node can do: its capabilities with the versions of their tools, what is missing and why, and its size."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.machine import find_machine
from compiler.measurement import boards
from compiler.platforms.platform import load_platform, platform_names
from compiler.toolchain.vitis import installation as vitis
from db.models import Stage
from worker.ladder.table import SIMULATED, queue_of
from worker.ladder.versions import gxx_version, millrace_version, tools_of
from worker.limits.table import limits_of, offered_gb
from worker.settings import Settings

_OWN: tuple[Stage, ...] = ("lower", "search", "simulate", "csim", "calibrate")
_NO_GXX = "no g++ in PATH: install g++ (Debian: apt install g++), which builds C simulations and the timing simulator"
_NOT_WANTED = "switched off: MILLRACE_CAPABILITIES does not name it"


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """What a worker announces. `capabilities` maps each queue it can serve to the versions of the tools that do the
    work, `missing` what it can not do to the reason and what would help.
    """

    name: str
    capabilities: Mapping[str, Mapping[str, str]]
    missing: Mapping[str, str]
    cpus: float
    memory_gb: float
    version: str


@dataclass(frozen=True, slots=True)
class _Found:
    """One thing that this machine might do: the tools for it, or why not."""

    stage: Stage
    queue: str
    tools: Mapping[str, str]
    missing: str | None = None


def describe(settings: Settings) -> NodeInfo:
    """Look what this machine has. Takes as long as the tools need to say their versions: a second or two."""
    cpus, memory = settings.cpus or find_machine().cpus, offered_gb(settings)
    found = [*_own(), *_vitis(settings), *_measure()]
    why = {f.queue: f.missing or _withheld(f, settings, cpus, memory) for f in found}
    return NodeInfo(
        name=settings.node,
        capabilities={f.queue: f.tools for f in found if why[f.queue] is None},
        missing={queue: reason for queue, reason in why.items() if reason is not None},
        cpus=cpus,
        memory_gb=round(memory, 3),
        version=millrace_version(),
    )


def _own() -> Iterator[_Found]:
    no_gxx = _NO_GXX if gxx_version() == "none" else None
    for stage in _OWN:
        yield _Found(stage, stage, tools_of(stage, {}), no_gxx)
    yield _Found("measure", queue_of("measure", {"board": SIMULATED}), tools_of("measure", {}), no_gxx)


def _vitis(settings: Settings) -> Iterator[_Found]:
    environment = {**os.environ, **({vitis.ROOTS: settings.vitis_roots} if settings.vitis_roots else {})}
    found = vitis.search(environment=environment)
    for what, reason in found.missing.items():
        yield _Found("csynth", what, {}, reason)
    for installed in found.installations:
        yield from _installed(installed)


def _installed(found: vitis.Installation) -> Iterator[_Found]:
    options = {"vitis": found.version}
    for stage in ("csynth", "cosim"):
        yield _Found(stage, queue_of(stage, options), tools_of(stage, options), found.missing.get("hls"))
    if "link" in found.missing:
        yield _Found("link", f"link@{found.version}", {}, found.missing["link"])
        return
    for shell in found.platforms:
        yield _Found("link", queue_of("link", {**options, "shell": shell}), tools_of("link", options))


def _measure() -> Iterator[_Found]:
    host = boards.find_host()
    if host.missing:
        yield _Found("measure", "measure", {}, host.missing)
    ours = [load_platform(name).shell for name in platform_names()]
    for board in host.boards:
        # A card names its shell otherwise than v++ does; a build may ask for either.
        for shell in dict.fromkeys([board.shell, *filter(board.fits, ours)]):
            yield _Found(
                "measure", queue_of("measure", {"board": shell}), tools_of("measure", {}), board.why_not or None
            )


def _withheld(found: _Found, settings: Settings, cpus: float, memory_gb: float) -> str | None:
    """Why the node should not do what it could."""
    wanted = settings.capabilities
    if wanted and found.queue not in wanted and found.queue.partition("@")[0] not in wanted:
        return _NOT_WANTED
    asks = limits_of(found.stage, settings)
    if asks.memory_gb > memory_gb:
        return f"needs {asks.memory_gb:g} GB of memory, this node offers {memory_gb:.3g} GB (MILLRACE_MEMORY_GB)"
    if asks.cpus > cpus:
        return f"needs {asks.cpus:g} CPUs, this node offers {cpus:g} (MILLRACE_CPUS)"
    return None
