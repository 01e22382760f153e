"""What the parts of a design call each other: memory images, kernels with their ports, tasks with their parameters."""

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Literal

from compiler.analysis.ports import paired_stores
from compiler.analysis.rows import kept_rows, made_rows
from compiler.analysis.tasks import c_name
from compiler.errors import VerificationError
from compiler.graph.abreast import Abreast, copy_name
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgGraph, Value
from compiler.graph.program import iterations, without_loading
from compiler.graph.task_graph import Dma, DmaTask, Joint, StoreTask, Stream, Task, TaskGraph
from compiler.targets.functions import TaskFunction, call_names, plan_functions
from compiler.targets.parameters import LaunchArgument, kernel_arguments, least_of, pointer_type, scalars_of
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.writer import Namer, identifier

# An xclbin has 63 characters for `kernel:unit` (`ip_data` of XRT's xclbin.h): where it is longer, xclbinutil ends a
# link of hours.
MAX_NAME = 48

ImageRole = Literal["param", "input", "kept", "output", "intermediate"]
FOLDERS: dict[ImageRole, str] = {"param": "params", "input": "tb", "kept": "tb", "output": "out"}


@dataclass(frozen=True)
class Image:
    """A tensor in HBM. `intermediate` ones pass between kernels and have no file; of one that is `kept` a launch reads
    what earlier ones left, and adds a row. Where `parts` lie in it, `value` is the row of all their elements, and none
    of the network.
    """

    name: str
    value: Value
    dma: Dma
    role: ImageRole
    parts: tuple[Value, ...] = ()

    @property
    def values(self) -> tuple[Value, ...]:
        """Those of the network that lie in it."""
        return self.parts or (self.value,)

    @property
    def fills(self) -> bool:
        """Whether it is what memories are filled with, which keep it between launches."""
        return self.dma.joint is not None and self.dma.joint.words

    @property
    def is_given(self) -> bool:
        """Whether it holds something before the first launch."""
        return self.role in {"param", "input", "kept"}

    @property
    def is_made(self) -> bool:
        """Whether it holds a result behind the launch."""
        return self.role in {"kept", "output"}

    def result(self, channel: int) -> str:
        """Path of what a launch left in the channel, in the folder of the results."""
        return f"{self.name}.{channel}.bin"

    def file(self, channel: int) -> str:
        """Path of the channel's content in the design directory."""
        return f"{FOLDERS[self.role]}/{self.name}.{channel}.bin"


@dataclass(frozen=True)
class Port:
    """A pointer of a kernel: one channel of an image. `traffic` is in words, re-reads included. `shares` is
    the pointer whose m_axi port it goes through, if not one of its own (`compiler.analysis.ports`). `asks`: its task
    asks for bursts by hand.
    """

    name: str
    image: Image
    channel: int
    writes: bool
    traffic: int
    shares: str | None = None
    asks: bool = False

    @property
    def bundle(self) -> str:
        """Name of the m_axi port."""
        return f"gmem_{self.shares or self.name}"

    @property
    def type(self) -> str:
        return pointer_type(self.image.dma.port_bits, writes=self.writes, asks=self.asks)


@dataclass(frozen=True)
class Kernel:
    """A kernel top: its function's parameters are the ports, then the scalars, then the launch's arguments. Call n is
    one of `functions[n]`: for a task, or a copy of it (`calls`).
    """

    name: str
    tasks: tuple[Task, ...]
    streams: tuple[Stream, ...]
    ports: tuple[Port, ...]
    scalars: tuple[Value, ...]
    arguments: tuple[LaunchArgument, ...]
    calls: tuple[tuple[Task, int], ...]
    abreast: Abreast
    functions: tuple[str, ...]

    @property
    def unit(self) -> str:
        """What its compute unit is called, beside those of other kernels."""
        return f"{self.name.rpartition('_')[2]}_1"

    @cached_property
    def instances(self) -> tuple[str, ...]:
        """What Vitis HLS calls each call (`compiler.targets.functions`)."""
        return tuple(call_names(self.functions))

    @cached_property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """C type and name of each parameter that is passed by value."""
        scalars = ((C_TYPE[s.dtype], identifier(s.name)) for s in self.scalars)
        return (*scalars, *(("int", identifier(a.name)) for a in self.arguments))

    def depth(self, port: Port) -> int:
        """Words behind a pointer, as co-simulation copies them: all of a bundle have the same (UG1448, HLS 200-466)."""
        return max(other.image.dma.words for other in self.ports if other.bundle == port.bundle)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        pointers = (f"{p.type} {p.name}" for p in self.ports)
        return (*pointers, *(f"{kind} {name}" for kind, name in self.numbers))


@dataclass(frozen=True)
class Interface:
    """All names of a design, from which every emitted file is written."""

    name: str
    images: tuple[Image, ...]
    kernels: tuple[Kernel, ...]
    scalars: tuple[Value, ...]
    task_ports: dict[str, tuple[Port, ...]]
    arguments: tuple[LaunchArgument, ...]
    functions: tuple[TaskFunction, ...]


def plan_interface(tasks: TaskGraph, graph: LinalgGraph) -> Interface:
    """Names and roles of everything in the design. O(tasks). Raises UnsupportedError that names a task without C++."""
    functions, kept = plan_functions(tasks), {row.state for row in kept_rows(graph).values()}
    function = {member: f.name for f in functions for member in f.members}
    images: dict[str, Image] = {}
    task_ports: dict[str, tuple[Port, ...]] = {}
    kernels: list[Kernel] = []
    name = _short(identifier(tasks.name))
    results = {out.value for out in graph.outputs}
    for number in range(tasks.kernels):
        members = tuple(t for t in tasks.tasks if t.kernel == number)
        streams = tuple(s for s in tasks.streams if tasks.task[s.source].kernel == number)
        scalars = tuple(dict.fromkeys(s for t in members for s in scalars_of(t)))
        arguments = kernel_arguments(tasks, number)
        numbers = (identifier(name) for name in (*scalars, *(a.name for a in arguments)))
        namer = Namer([*(t.name for t in members), *function.values(), *(s.name for s in streams), *numbers])
        for task in members:
            if isinstance(task, DmaTask):
                image = _image(task, graph, results, kept)
                if not _same_content(images.setdefault(image.name, image).dma, image.dma):
                    raise VerificationError(
                        f"{task.name} uses memory image {image.name} in another layout than its writer"
                    )
                task_ports[task.name] = _ports(task, image, namer, asks=tasks.asks(task))
        task_ports |= _shared({t.name: task_ports[t.name] for t in members if t.name in task_ports})
        ports = tuple(p for t in members for p in task_ports.get(t.name, ()))
        values = tuple(graph.value[s] for s in scalars)
        calls = tuple((t, copy) for t in members for copy in range(tasks.copies(t.name)))
        called = tuple(function[copy_name(t.name, copy)] for t, copy in calls)
        rows = tasks.abreast
        kernels.append(Kernel(f"{name}_k{number}", members, streams, ports, values, arguments, calls, rows, called))
    used = dict.fromkeys(s for k in kernels for s in k.scalars)
    arguments = least_of(argument for kernel in kernels for argument in kernel.arguments)
    return Interface(name, tuple(images.values()), tuple(kernels), tuple(used), task_ports, arguments, functions)


def _short(name: str) -> str:
    """The name; of a long one its beginning, and a digest of all of it."""
    if len(name) <= MAX_NAME:
        return name
    digest = blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{name[: MAX_NAME - len(digest) - 1]}_{digest}"


def _image(task: DmaTask, graph: LinalgGraph, results: set[str], kept: set[str]) -> Image:
    if task.dma.joint is not None:
        return _joint_image(task, task.dma.joint, graph)
    value, rows = graph.value[task.dma.value].in_memory, made_rows(graph)
    if value.name in rows:
        value = value.with_rows(rows[value.name])
    _verify_shape(task, value, task.dma.layout)
    if value.role == "intermediate":
        dma = replace(task.dma, at=None)
        return Image(c_name(value.name), value, dma, "output" if value.name in results else "intermediate")
    if value.name in kept:
        return Image(c_name(value.name), value, replace(task.dma, at=None, below=None), "kept")
    # Kernels may want one value in different orders: an image for each load.
    return Image(task.name.removeprefix("load_"), value, task.dma, "param" if value.role == "param" else "input")


def _joint_image(task: DmaTask, joint: Joint, graph: LinalgGraph) -> Image:
    parts = tuple(graph.value[name] for name in joint.values)
    for value, part in zip(parts, (*joint.parts, *joint.behind), strict=True):
        _verify_shape(task, value, part.layout)
    row = Value(task.dma.value, task.dma.layout.shape, task.dma.layout.dtype, "param")
    return Image(task.name.removeprefix("load_"), row, task.dma, "param", parts)


def _verify_shape(task: DmaTask, value: Value, layout: ITensor) -> None:
    if layout.shape != value.shape:
        raise VerificationError(
            f"{task.name} moves {list(layout.shape)} of {value.name}{list(value.shape)}: the network is "
            "padded in another way than the design; compile the design again"
        )


def _same_content(a: Dma, b: Dma) -> bool:
    """Whether two transfers mean the same words, loops split otherwise aside."""
    packing = (a.channels, a.tokens_per_word, a.words_per_token)
    return a.layout.same_stream(b.layout) and packing == (b.channels, b.tokens_per_word, b.words_per_token)


def _ports(task: Task, image: Image, namer: Namer, *, asks: bool) -> tuple[Port, ...]:
    usual = without_loading(task.program)  # what only the first launch moves is in nobody's way
    traffic = -(-iterations(usual) // image.dma.tokens_per_word)
    return tuple(
        Port(namer.name(f"{image.name}_{c}"), image, c, isinstance(task, StoreTask), traffic, asks=asks)
        for c in range(image.dma.channels)
    )


def _shared(task_ports: dict[str, tuple[Port, ...]]) -> dict[str, tuple[Port, ...]]:
    """The ports of one kernel, stores through those of loads."""
    ports = [port for ports in task_ports.values() for port in ports]
    hosts: dict[str, str] = {}
    for alike in ([p for p in ports if p.asks], [p for p in ports if not p.asks]):
        loads, stores = ({p.name: p.traffic for p in alike if p.writes is writes} for writes in (False, True))
        reads = {(p.image.name, p.channel): p.name for p in alike if not p.writes}
        written = {p.name: (p.image.name, p.channel) for p in alike if p.writes}
        own = {store: reads[memory] for store, memory in written.items() if memory in reads}
        hosts |= paired_stores(loads, stores, own)
    return {t: tuple(replace(p, shares=hosts.get(p.name)) for p in ports) for t, ports in task_ports.items()}
