"""What tells one accelerator from another: the content of `dataflow.json` without the name of its network, without why
a FIFO has its depth, and without what a converter must hold at least, which follows from the rest. Knobs are not in it:
different ones may give the same accelerator.

Most of those are one design already before its FIFOs have depths; a `plan_digest` tells so for less.
"""

import json
from array import array
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from typing import Any, cast

from compiler.graph.design import Design
from compiler.graph.same import Same
from compiler.graph.task_graph import Stream, Task, TaskGraph, stream_json, task_json


def accelerator_digest(tasks: TaskGraph) -> str:
    """128 bits in hex; stable across processes and machines. O(tasks + streams), of which those that an earlier design
    had too are looked up.
    """
    whole = blake2b(digest_size=16)
    whole.update(_digest([tasks.kernels, [asdict(carry) for carry in tasks.carries]]))
    if (rows := tasks.abreast).rows > 1:
        whole.update(_digest([rows.rows, sorted(rows.copied), rows.each, sorted(rows.interleaved)]))
    for task in tasks.tasks:
        whole.update(_task_digest(task))
    for stream in tasks.streams:
        whole.update(_stream_digest(stream))
    return whole.hexdigest()


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def _task_digest(task: Task) -> bytes:
    return _digest(task_json(task, with_least=False))


@lru_cache(maxsize=16384)
def _stream_digest(stream: Stream) -> bytes:
    content = stream_json(stream)
    del content["reason"]
    return _digest(content)


def _digest(content: Any) -> bytes:
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).digest()


_numbers = count()


def plan_digest(design: Design) -> bytes:
    """128 bits: equal for equal designs on one board, as a rule, and never for others. Of this process alone.

    O(decisions), of which each is a look-up where an earlier design had it too, as this one is where it is known.
    """
    return _plan_digest(Same(design))


@lru_cache(maxsize=256)
def _plan_digest(same: Same[Design]) -> bytes:
    design = same.value
    items = [_number((field.name, *item)) for field in fields(Design) for item in _decisions(design, field.name)]
    return blake2b(array("Q", items).tobytes(), digest_size=16).digest()


def _decisions(design: Design, name: str) -> Iterable[tuple[Any, ...]]:
    part = getattr(design, name)
    return cast(Mapping[Any, Any], part).items() if isinstance(part, Mapping) else [(part,)]


@lru_cache(maxsize=1 << 17)
def _number(item: Hashable) -> int:  # noqa: ARG001 # what was forgotten gets a new number: no two items have one
    return next(_numbers)
