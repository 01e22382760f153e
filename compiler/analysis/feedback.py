"""Which streams lead back, where operations take turns: the others have an order, in which tasks are told."""

from collections.abc import Collection, Mapping, Sequence

from compiler.graph.task_graph import Stream


def with_feedback(streams: Sequence[Stream], inner: Sequence[Stream], position: Mapping[str, int]) -> list[Stream]:
    """All streams, with those marked that lead back to an engine whose earlier turn they depend on; `inner` are within
    an engine and its routes, and lead on.

    `position`: of the first operation of each task that runs some, or passes on its tokens. Adapters stand where what
    they read stands, so that a stream that is not marked leads to a later task, or closes no cycle.
    """
    place, readers = dict(position), dict[str, list[str]]()
    writer = {stream.target: stream.source for stream in streams if stream.target not in position}
    for stream in (*streams, *inner):
        readers.setdefault(stream.source, []).append(stream.target)

    def placed(task: str) -> int:
        while task not in place:
            if task not in writer:
                return -1  # a load
            task = writer[task]
        return place[task]

    def leads_back(stream: Stream) -> bool:
        backward = stream.target in place and placed(stream.source) >= place[stream.target]
        return backward and stream.source in _reached(stream.target, readers)

    marked = (stream._replace(feedback=True) if leads_back(stream) else stream for stream in streams)
    return [*marked, *inner]


def _reached(task: str, readers: Mapping[str, Collection[str]]) -> set[str]:
    """Tasks that get anything of what a task writes."""
    found, waiting = set[str](), [task]
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            if reader not in found:
                found.add(reader)
                waiting.append(reader)
    return found
