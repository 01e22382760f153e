from collections.abc import Callable, Iterable

import pytest

from bench.mutants.edits import Place, changed_lines, offered
from bench.mutants.source import Function
from compiler.graph.task_graph import TaskKind

Lines = Callable[[Callable[[Function], Iterable[Place]], str, TaskKind], list[set[str]]]


@pytest.fixture
def edited_lines() -> Lines:
    """By place, the lines that may be written there; of an edit of several, with `;;` between."""

    def lines(find: Callable[[Function], Iterable[Place]], body: str, kind: TaskKind) -> list[set[str]]:
        function = Function("task", kind, body)
        return [
            {";;".join(new for _, new in changed_lines(body, edit.apply(body))) for edit in place}
            for place in offered(find(function))
        ]

    return lines
