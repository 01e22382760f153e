"""Small designs for the timing simulator, made by hand."""

from collections.abc import Sequence
from typing import Any

from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import TaskKind, TimingSpec
from compiler.simulator.timing.design import TimedDesign, TimedStream, TimedTask, Transfer


def task(
    name: str,
    trips: Sequence[int],
    reads: Sequence[str | Access] = (),
    writes: Sequence[str | Access] = (),
    *,
    ii: int = 1,
    depth: int = 2,
    kind: TaskKind = "compute",
    kernel: int = 0,
    transfer: Transfer | None = None,
) -> TimedTask:
    accesses = [tuple(a if isinstance(a, Access) else Access(a) for a in side) for side in (reads, writes)]
    return TimedTask(name, kind, kernel, TimingSpec(tuple(trips), ii, depth), accesses[0], accesses[1], transfer)


def load(name: str, tokens: int, stream: str, transfer: Transfer | None = None, **options: Any) -> TimedTask:
    """A load whose first token is there after 66 cycles."""
    transfer = transfer or Transfer(1, 1, 1, None)
    return task(name, (tokens,), writes=(stream,), depth=66, kind="load", transfer=transfer, **options)


def store(name: str, tokens: int, stream: str, transfer: Transfer | None = None, **options: Any) -> TimedTask:
    transfer = transfer or Transfer(1, 1, 1, None)
    return task(name, (tokens,), reads=(stream,), kind="store", transfer=transfer, **options)


def design(tasks: Sequence[TimedTask], depths: dict[str, int] | None = None) -> TimedDesign:
    """A design of `tasks`; FIFOs hold two tokens where `depths` does not say otherwise."""
    reader = {a.stream: t.name for t in tasks for a in t.reads}
    streams = tuple(
        TimedStream(a.stream, t.name, reader[a.stream], (depths or {}).get(a.stream, 2))
        for t in tasks
        for a in t.writes
    )
    return TimedDesign("small", 1 + max(t.kernel for t in tasks), tuple(tasks), streams)


def residual(bypass: int, rows: int = 4, columns: int = 8) -> TimedDesign:
    """Rows that are summed, and divided by their sum: `bypass` holds a row of `columns` until the sum is there."""
    trips = (rows, columns)
    last, first = (Gate(1, columns - 1, columns),), (Gate(1, 0, 1),)
    return design(
        (
            task("source", trips, (), ("x",)),
            task("copy", trips, ("x",), ("row", "bypass")),
            task("total", trips, ("row",), (Access("sum", last),)),
            task("divide", trips, (Access("sum", first), "bypass")),
        ),
        {"bypass": bypass},
    )


def to_json(found: TimedDesign, itensors: dict[str, str] | None = None) -> dict[str, Any]:
    """The fields of `dataflow.json` that the simulator reads."""
    return {
        "name": found.name,
        "kernels": found.kernels,
        "tasks": [_task_json(t) for t in found.tasks],
        "streams": [
            {"name": s.name, "source": s.source, "target": s.target, "depth": s.depth, "reason": s.reason}
            | ({"itensor": itensors[s.name]} if itensors and s.name in itensors else {})
            for s in found.streams
        ],
        "hbm_channels": {
            t.name: list(t.transfer.channels) for t in found.tasks if t.transfer is not None and t.transfer.channels
        },
    }


def _task_json(found: TimedTask) -> dict[str, Any]:
    timing, transfer = found.timing, found.transfer
    data = {
        "name": found.name,
        "kind": found.kind,
        "kernel": found.kernel,
        "timing": {"trips": list(timing.trips), "ii": timing.ii, "depth": timing.depth},
        "reads": _accesses_json(found.reads),
        "writes": _accesses_json(found.writes),
    }
    if transfer is not None:
        packing = {"tokens_per_word": transfer.tokens_per_word, "words_per_token": transfer.words_per_token}
        data["dma"] = {"channels": transfer.ports, **packing}
    return data


def _accesses_json(accesses: Sequence[Access]) -> list[dict[str, Any]]:
    return [
        {"stream": a.stream, "gates": [{"loop": g.loop, "low": g.low, "high": g.high} for g in a.gates]}
        for a in accesses
    ]
