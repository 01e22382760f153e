"""The farm for people: nodes with what they do and how busy they are, queues, licences, what runs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.build_view import build_table, duration, elapsed
from cli.output import table
from millrace.numbers import number
from worker.program import as_typed

if TYPE_CHECKING:
    from millrace.wire import Farm, Licence, Node, QueueState

_BAR = 10
_HELD_FOR = {
    "scratch": "what builds write while they run; goes with them",
    "bundles": "imported models; one that is gone is imported again when it is needed",
    "models": "config.json of models that were added",
    "store": "artifacts and logs of builds, each content once",
    "cache": "copies of artifacts that are kept elsewhere, bounded by MILLRACE_STORE_CACHE_GB",
    "database": "everything that lists show",
    "logs": "of the service, and of builds that run",
}
_STATES = {"active": "green", "draining": "yellow", "paused": "yellow"}


def bar(used: float, total: float, width: int = _BAR) -> str:
    """How much of `total` is used, as a bar that turns yellow at three quarters and red when it is full."""
    share = min(1.0, used / total) if total > 0 else 0.0
    full = round(share * width)
    colour = "red" if share >= 1 else "yellow" if share >= 0.75 else "green"
    return f"[{colour}]{'█' * full}[/][dim]{'░' * (width - full)}[/]"


def farm_view(farm: "Farm", with_missing: bool = False) -> RenderableType:
    """All of the farm, one below the other."""
    parts: list[RenderableType] = [_headline(farm), Text()]
    parts.append(
        _nodes(farm.nodes)
        if farm.nodes
        else Text(as_typed("no node has joined: start one with `millrace up`, or see `millrace farm join --help`"))
    )
    if any(node.disk for node in farm.nodes):
        parts += [Text(), _disks(farm.nodes)]
    if with_missing:
        parts += [_missing(node) for node in farm.nodes if node.missing]
    busy = [q for q in farm.queues if q.waiting or q.running]
    if busy:
        parts += [Text(), _queues(busy)]
    if farm.licences:
        parts += [Text(), _licences(farm.licences)]
    if farm.running:
        parts += [Text(), build_table(farm.running, "[bold]running[/]")]
    return Group(*parts)


def _headline(farm: "Farm") -> Text:
    present = sum(node.present for node in farm.nodes)
    waiting, running = sum(q.waiting for q in farm.queues), sum(q.running for q in farm.queues)
    lost = len(farm.nodes) - present
    text = f"[bold]{present}[/] nodes{f', [red]{lost} silent[/]' if lost else ''}, [bold]{running}[/] builds run, "
    return Text.from_markup(text + f"[bold]{waiting}[/] wait")


def _nodes(nodes: Iterable["Node"]) -> Table:
    rows = [
        (
            f"{_lamp(node)} {escape(node.name)}",
            _state(node),
            f"{bar(node.used_cpus, node.cpus)} {node.used_cpus:g}/{node.cpus:g}",
            f"{bar(node.used_memory_gb, node.memory_gb)} {_of(node.used_memory_gb, node.memory_gb)}",
            str(node.running),
            escape(abilities(node.capabilities)),
        )
        for node in nodes
    ]
    return table("", ("node", "state", "CPUs", "memory GB", ">runs", "can do"), rows)


def _disks(nodes: Iterable["Node"]) -> Table:
    """What nodes hold, largest first, with the reason."""
    rows = [
        (escape(node.name), _size(size), what, f"[dim]{_HELD_FOR.get(what, '')}[/]")
        for node in nodes
        for what, size in [("all", sum(node.disk.values())), *sorted(node.disk.items(), key=lambda i: -i[1])]
    ]
    return table("", ("node", ">on disk", "of that", "why"), rows)


def _size(size: float) -> str:
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.1f} MB"


def _of(used: float, total: float) -> str:
    return f"{number(used)}/{number(total)}"


def _lamp(node: "Node") -> str:
    return f"[{_STATES[node.state]}]●[/]" if node.present else "[red]○[/]"


def _state(node: "Node") -> str:
    if node.present:
        return node.state
    return f"[red]silent for {duration(elapsed(node.last_seen))}[/]"


def abilities(queues: Iterable[str]) -> str:
    """Queues in short: those with versions or boards together, like `csynth 2022.1 2023.2`."""
    found: dict[str, list[str]] = {}
    for queue in sorted(queues):
        stage, _, what = queue.partition("@")
        found.setdefault(stage, []).extend([what] if what else [])
    return ", ".join(" ".join((stage, *what)) for stage, what in found.items())


def _missing(node: "Node") -> Table:
    rows = [(escape(what), f"[dim]{escape(why)}[/]") for what, why in sorted(node.missing.items())]
    return table(f"what {escape(node.name)} can not do", ("", ""), rows)


def _queues(queues: Iterable["QueueState"]) -> Table:
    rows = [
        (
            escape(queue.name),
            str(queue.waiting),
            str(queue.running),
            duration(queue.oldest_s),
            str(queue.nodes) if queue.nodes else "[red]none[/]",
        )
        for queue in queues
    ]
    return table("", ("queue", ">wait", ">run", ">oldest waits", ">nodes"), rows)


def _licences(licences: Iterable["Licence"]) -> Table:
    rows = [(escape(x.feature), f"{bar(x.used, x.tokens)} {x.used}/{x.tokens}") for x in licences]
    return table("", ("licence", "used"), rows)
