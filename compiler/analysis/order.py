"""The one order of tasks and streams, so that the search and the compiled IR give the same TaskGraph."""

from collections.abc import Iterator, Sequence

from compiler.graph.task_graph import Stream, Task


def order_tasks(tasks: Sequence[Task], streams: Sequence[Stream]) -> tuple[Task, ...]:
    """Tasks so that every stream runs forward, kernel by kernel; ties keep names in order, so the result is unique."""
    by_name = {t.name: t for t in tasks}
    waiting = {t.name: len(t.reads) for t in tasks}
    followers: dict[str, list[str]] = {t.name: [] for t in tasks}
    for stream in streams:
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

    return tuple(sorted(walk(), key=lambda t: t.kernel))


def order_streams(tasks: Sequence[Task], streams: Sequence[Stream]) -> tuple[Stream, ...]:
    """Streams in the order in which the ordered tasks read them."""
    by_name = {s.name: s for s in streams}
    return tuple(by_name[access.stream] for task in tasks for access in task.reads)
