"""The one order of tasks and streams, so that the search and the compiled IR give the same TaskGraph."""

from collections.abc import Collection, Iterator, Sequence

from compiler.errors import VerificationError
from compiler.graph.task_graph import Stream, Task


def order_tasks(tasks: Sequence[Task], streams: Sequence[Stream]) -> tuple[Task, ...]:
    """Tasks so that every stream but a feedback runs forward, kernel by kernel; ties keep names in order, so the result
    is unique.

    Raises VerificationError where streams that are no feedback close a cycle, with its tasks.
    """
    by_name = {t.name: t for t in tasks}
    waiting = {t.name: len(t.reads) for t in tasks}
    followers: dict[str, list[str]] = {t.name: [] for t in tasks}
    for stream in streams:
        if stream.feedback:
            waiting[stream.target] -= 1
        else:
            followers[stream.source].append(stream.target)

    def walk() -> Iterator[Task]:
        ready = sorted((n for n, c in waiting.items() if c == 0), key=lambda n: (by_name[n].kernel, n), reverse=True)
        while ready:
            name = ready.pop()
            yield by_name[name]
            for follower in sorted(followers[name], reverse=True):
                waiting[follower] -= 1
                if waiting[follower] == 0:
                    ready.append(follower)

    ordered = tuple(sorted(walk(), key=lambda t: t.kernel))
    if left := {name for name, count in waiting.items() if count > 0}:
        circle = " > ".join(_circle(left, streams))
        raise VerificationError(f"tasks wait for one another in a cycle of streams, {circle}: none could ever start")
    return ordered


def _circle(left: Collection[str], streams: Sequence[Stream]) -> list[str]:
    """Tasks along a cycle, the first one again at the end; each of `left` reads from another of them."""
    source = {s.target: s.source for s in streams if s.source in left and not s.feedback}
    upstream = [min(left)]
    while upstream.count(upstream[-1]) == 1:
        upstream.append(source[upstream[-1]])
    return upstream[upstream.index(upstream[-1]) :][::-1]


def order_streams(tasks: Sequence[Task], streams: Sequence[Stream]) -> tuple[Stream, ...]:
    """Streams in the order in which the ordered tasks read them."""
    by_name = {s.name: s for s in streams}
    return tuple(by_name[access.stream] for task in tasks for access in task.reads)
