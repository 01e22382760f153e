"""What the emitters of all kinds of task share: the design, the writer, the function around a task's code."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from compiler.graph.itensor import ITensor
from compiler.graph.program import Access
from compiler.graph.task_graph import Buffer, Task, TaskGraph
from compiler.targets.interface import Interface, Parameter, task_parameters
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.tokens import is_packed, token_type
from compiler.targets.writer import CppWriter, Namer


@dataclass(frozen=True)
class Frame:
    """A design whose tasks are written to `out`."""

    tasks: TaskGraph
    interface: Interface
    out: CppWriter

    def parameters(self, task: Task) -> tuple[Parameter, ...]:
        return task_parameters(task, self.tasks, self.interface.task_ports.get(task.name, ()))

    def itensor(self, access: Access) -> ITensor:
        return self.tasks.stream[access.stream].itensor

    def token(self, access: Access) -> str:
        """C++ type of one token of the access."""
        return token_type(self.itensor(access))

    def declare(self, access: Access, name: str) -> None:
        """`name` for the elements of one token, to be indexed by element; a lone one is a variable."""
        itensor = self.itensor(access)
        if is_packed(itensor):
            self.out.line(f"{C_TYPE[itensor.dtype]} {name}[{prod(itensor.element)}];")
            self.out.pragma(f"array_partition variable={name} type=complete")
        else:
            self.out.line(f"{self.token(access)} {name};")

    def read(self, access: Access, stream: str, name: str, declare: bool = False) -> None:
        """Read a token into the elements `name`, which are declared here or were before."""
        if not is_packed(self.itensor(access)):
            self.out.line(f"{f'const {self.token(access)} ' if declare else ''}{name} = {stream}.read();")
            return
        if declare:
            self.declare(access, name)
        self.out.line(f"unpack_elements({stream}.read(), {name});")

    def write(self, access: Access, stream: str, name: str) -> None:
        """Write the elements `name`, or the expression of a lone one, as a token."""
        packed = is_packed(self.itensor(access))
        self.out.line(f"{stream}.write({f'pack_elements<{self.token(access)}>({name})' if packed else name});")

    @contextmanager
    def function(self, task: Task, summary: str) -> Generator[tuple[list[str], Namer]]:
        """The function of `task` around what the caller writes; gives the parameters' names and a namer for others."""
        parameters = self.parameters(task)
        names = [p.name for p in parameters]
        self.out.comment(summary)
        for number, access in enumerate((*task.reads, *task.writes)):
            verb = "reads" if number < len(task.reads) else "writes"
            self.out.line(f"//   {verb} {names[number]}: {self.itensor(access)}")
        self.out.statement(f"void {task.name}", [p.declaration for p in parameters], " {")
        with self.out.indented():
            yield names, Namer([task.name, *names])
        self.out.line("}")
        self.out.line()


def bind_storage(out: CppWriter, name: str, buffer: Buffer) -> None:
    """The directive that puts array `name` into the memory that `buffer` says."""
    if buffer.kind != "registers":
        out.pragma(f"bind_storage variable={name} type=ram_s2p impl={buffer.kind}")


def rate(task: Task) -> str:
    """How many iterations the task runs and how often one starts, for its comment."""
    if task.timing.iterations == 1:
        return "One iteration"
    every = "every cycle" if task.timing.ii == 1 else f"every {task.timing.ii} cycles"
    return f"{task.timing.iterations} iterations, one {every}"
