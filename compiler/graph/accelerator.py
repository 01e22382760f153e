"""What tells one accelerator from another: the content of `dataflow.json` without the name of its network and without
why a FIFO has its depth. Knobs are not in it: different ones may give the same accelerator.
"""

import json
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from compiler.graph.task_graph import Stream, Task, TaskGraph, stream_json, task_json


def accelerator_digest(tasks: TaskGraph) -> str:
    """128 bits in hex; stable across processes and machines. O(tasks + streams), of which those that an earlier design
    had too are looked up.
    """
    whole = blake2b(digest_size=16)
    whole.update(_digest([tasks.kernels, [asdict(carry) for carry in tasks.carries]]))
    for task in tasks.tasks:
        whole.update(_task_digest(task))
    for stream in tasks.streams:
        whole.update(_stream_digest(stream))
    return whole.hexdigest()


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def _task_digest(task: Task) -> bytes:
    return _digest(task_json(task))


@lru_cache(maxsize=16384)
def _stream_digest(stream: Stream) -> bytes:
    content = stream_json(stream)
    del content["reason"]
    return _digest(content)


def _digest(content: Any) -> bytes:
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).digest()
