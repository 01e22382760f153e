"""Knobs that change nothing in a design: with their default it is the same accelerator."""

from collections.abc import Iterator
from dataclasses import fields, replace

from compiler.errors import MillraceError
from compiler.graph.accelerator import accelerator_digest
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform
from dse.space import TASK_FIELDS


def inert_knobs(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> tuple[str, ...]:
    """Names of knobs that differ from their default and change nothing, each alone; `<operation>.<field>` of overrides.
    Plans a design for each. Raises InvalidInputError as planning `knobs` does.
    """
    built = accelerator_digest(planned_tasks(graph, knobs, platform))
    return tuple(name for name, other in _without_one(knobs) if _digest(graph, other, platform) == built)


def _without_one(knobs: Knobs) -> Iterator[tuple[str, Knobs]]:
    default = Knobs()
    for field in fields(Knobs):
        value = getattr(default, field.name)
        if field.name != "overrides" and getattr(knobs, field.name) != value:
            yield field.name, replace(knobs, **{field.name: value})
    for override in knobs.overrides:
        for field in TASK_FIELDS:
            if getattr(override, field) is not None:
                yield f"{override.op}.{field}", knobs.with_override(replace(override, **{field: None}))


def _digest(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> str | None:
    try:
        return accelerator_digest(planned_tasks(graph, knobs, platform))
    except MillraceError:  # what one knob makes possible is not inert
        return None
