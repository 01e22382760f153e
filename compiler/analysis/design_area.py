"""Area of a design: of each task and FIFO, and of all of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from compiler.analysis.ports import kernel_ports
from compiler.analysis.resources import (
    Resources,
    control_resources,
    kernel_resources,
    stream_resources,
    task_resources,
    total,
)
from compiler.graph.computed_once import computed_once
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.platforms.platform import Platform

_NONE: Mapping[str, Resources] = {}


@dataclass(frozen=True)
class DesignArea:
    """By name, in the order of the design, with all copies: `tasks`, and `fifos`. `kernel`: control registers of one,
    and what starts its tasks for each token.
    """

    design: TaskGraph
    tasks: Mapping[str, Resources]
    fifos: Mapping[str, Resources]
    kernel: Resources

    @staticmethod
    def of(tasks: TaskGraph, platform: Platform, known: "DesignArea | None" = None) -> "DesignArea":
        """Of a design that differs from the `known` one in tasks and FIFOs of other names, if at all."""
        known_tasks, known_fifos = (known.tasks, known.fifos) if known else (_NONE, _NONE)

        def of_all(one: Resources, name: str) -> Resources:
            return one if (copies := tasks.copies(name)) == 1 else total([one] * copies)

        def of_stream(stream: Stream) -> Resources:
            depths = [tasks.abreast.depth(stream.name, stream.depth, k) for k in range(tasks.copies(stream.name))]
            if depths == [stream.depth]:
                return stream_resources(stream, platform)
            fifos = (stream if depth == stream.depth else stream._replace(depth=depth, kind=None) for depth in depths)
            return total([stream_resources(fifo, platform) for fifo in fifos])

        return DesignArea(
            tasks,
            {
                t.name: known_tasks.get(t.name) or of_all(task_resources(t, tasks, platform), t.name)
                for t in tasks.tasks
            },
            {s.name: known_fifos.get(s.name) or of_stream(s) for s in tasks.streams},
            kernel_resources(platform) + control_resources(tasks, platform),
        )

    @computed_once
    def all_fifos(self) -> Resources:
        return total(self.fifos.values())

    @computed_once
    def whole(self) -> Resources:
        """All kernels together: they lie side by side in one xclbin."""
        control = total([self.kernel] * self.design.kernels)
        return replace(total(self.tasks.values()) + self.all_fifos + control, hbm_ports=sum(self.ports))

    @computed_once
    def ports(self) -> list[int]:
        """HBM ports of each kernel."""
        return kernel_ports(self.design)

    def with_fifos(self) -> dict[str, Resources]:
        """Of each task with the FIFOs that it reads: they lie on its die. The first task of a kernel has its control
        registers. All together are what the design takes.
        """
        areas = dict(self.tasks)
        for name in {task.kernel: task.name for task in reversed(self.design.tasks)}.values():
            areas[name] += self.kernel
        for stream in self.design.streams:
            areas[stream.target] += self.fifos[stream.name]
        return areas
