"""Parameters of a task's function, and what its kernel passes for them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from compiler.errors import UnsupportedError
from compiler.graph.abreast import APART, SEVERAL, Abreast, copy_name
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.program import Argument
from compiler.graph.task_graph import (
    CHOOSE,
    END,
    FIRST,
    UNTIL,
    ComputeTask,
    DmaTask,
    StoreTask,
    Stream,
    StructuredTask,
    Task,
    TaskGraph,
    done_name,
    given_name,
    go_name,
    row_credit_name,
    told,
)
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.tokens import fifo_type, part_name, parts_of
from compiler.targets.writer import Namer, identifier

OWN = "own"
EVERY = "every"  # rows of a chunk, for a copy that does what is behind layers for all of them
ALONE = "alone"  # whether that is what is done
NTH = "nth"
BESIDE = "beside"  # rows that get what is loaded once


@dataclass(frozen=True)
class Parameter:
    """A parameter of a task's function, and what its kernel passes for it; of an array its `extents`, and which of them
    is for the running `row`, as C++. Which `part` of each token it carries, where they are wider than a FIFO.
    """

    type: str
    name: str
    argument: str
    extents: tuple[int, ...] = ()
    row: str = ""
    part: int = 0

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}{''.join(f'[{extent}]' for extent in self.extents)}"


@dataclass(frozen=True)
class LaunchArgument:
    """A number from 0 to `most` that every launch is given: trip counts follow it, or it says where a row lies."""

    name: str
    most: int


def launch_arguments(tasks: Sequence[Task]) -> tuple[LaunchArgument, ...]:
    """What tasks are told, by name; what is used in several ways takes what all of them can."""
    return least_of(argument for task in tasks for argument in told(task))


def least_of(arguments: Iterable[Argument | LaunchArgument]) -> tuple[LaunchArgument, ...]:
    """Each argument once, by name, with the least of its largest values."""
    most: dict[str, int] = {}
    for argument in arguments:
        most[argument.name] = min(argument.most, most.get(argument.name, argument.most))
    return tuple(LaunchArgument(name, number) for name, number in sorted(most.items()))


def pointer_type(port_bits: int, *, writes: bool, asks: bool) -> str:
    """C++ type of a pointer into HBM; of one through which bursts are asked for by hand."""
    word = f"ap_uint<{port_bits}>"
    return f"hls::burst_maxi<{word} >" if asks else f"{'' if writes else 'const '}{word}*"


def task_parameters(
    task: Task, tasks: TaskGraph, function: str, pointers: Sequence[str] = (), copy: int = 0
) -> tuple[Parameter, ...]:
    """Parameters of the task's function: streams read, streams written, memory, scalars, arguments of the launch, and
    streams of other rows side by side; behind them those of other parts of wide tokens. `pointers` are what the kernel
    passes for memory, channel by channel, in the call for this `copy` of the task.
    """
    namer = Namer([function, *of_chunks(tasks)])
    parameters: list[Parameter] = []
    for access, hint in zip((*task.reads, *task.writes), _stream_hints(task), strict=True):
        stream = tasks.stream[access.stream]
        if identifier(hint) == function:
            hint = hint.rsplit(".", 1)[-1]
        parameters.append(_stream_parameter(task, tasks, stream, namer.name(hint), copy))
    if isinstance(task, DmaTask):
        writes, asks = isinstance(task, StoreTask), tasks.asks(task)
        kind = pointer_type(task.dma.port_bits, writes=writes, asks=asks)
        for channel, pointer in enumerate(pointers or ("",) * task.dma.channels):
            parameters.append(Parameter(kind, namer.name(f"memory{channel}"), pointer))
    if isinstance(task, ComputeTask):
        short = short_names(task.op)
        types = _argument_types(task)
        parameters += [Parameter(types[s], namer.name(short[s]), identifier(s)) for s in task.scalars]
    if tasks.control is not None:
        parameters += _control_parameters(task, tasks, namer, copy)
    else:
        for argument in launch_arguments([task]):
            parameters.append(Parameter("int", namer.name(argument.name), identifier(argument.name)))
    return (*parameters, *_other_parts(task, tasks, parameters))


def _other_parts(task: Task, tasks: TaskGraph, parameters: Sequence[Parameter]) -> Iterator[Parameter]:
    """For the parts but the first of tokens that are wider than a FIFO."""
    for access in (*task.reads, *task.writes):
        for part in range(1, parts_of(tasks.stream[access.stream].itensor)):
            fifos = {access.stream, *(copy_name(access.stream, row) for row in range(1, tasks.copies(access.stream)))}
            for of_first in parameters:
                if of_first.argument.partition("[")[0] in fifos:
                    names = (part_name(name, part) for name in (of_first.name, of_first.argument))
                    yield replace(of_first, name=next(names), argument=next(names), part=part)


def _control_parameters(task: Task, tasks: TaskGraph, namer: Namer, copy: int) -> Iterator[Parameter]:
    """What starts the task and hears of it, and streams that only chunks of a prompt pass."""
    control = tasks.control
    assert control is not None
    go = go_name(copy_name(task.name, copy))
    yield Parameter(f"hls::stream<{go_type(task, control.rows)}>&", namer.name("go"), go)
    if task.name in control.reporting:
        yield Parameter(f"hls::stream<{done_type(task.name, tasks)}>&", namer.name("done"), done_name(task.name))
    if (credit := row_credit(task, tasks)) is not None:
        yield Parameter("hls::stream<bool>&", namer.name("credit"), credit)
    if control.rows > 1 and task.name == control.given:
        yield Parameter("hls::stream<int>&", namer.name("chunk"), given_name(task.name))
    for name in (a.stream for a in task.writes if tasks.abreast.passing.get(a.stream) == "shared"):
        kind = f"hls::stream<{fifo_type(tasks.stream[name].itensor)}>&"
        for row in range(1, tasks.abreast.side_by_side):
            yield Parameter(kind, namer.name(f"row{row}"), copy_name(name, row))


def _stream_parameter(task: Task, tasks: TaskGraph, stream: Stream, name: str, copy: int) -> Parameter:
    rows, token = tasks.abreast, fifo_type(stream.itensor)
    extents = stream_extents(stream, rows)
    if not extents:
        return Parameter(f"hls::stream<{token}>&", name, copy_name(stream.name, copy) if copy else stream.name)
    sides, own, argument, row = rows.side_by_side, extents, stream.name, f"[row % {rows.side_by_side}]"
    if task.name in rows.copied and sides > 1:
        own, argument = extents[1:], f"{stream.name}[{copy}]"
    if not own:
        return Parameter(f"hls::stream<{token}>&", name, argument)
    if task.name in rows.copied:
        row = f"[{OWN}]" if task.name in rows.interleaved else f"[row % {rows.each}]"
    elif stream.name in rows.for_each:
        row = f"{row}[row / {sides} % {rows.each}]" if sides > 1 else f"[row % {rows.each}]"
    return Parameter(f"hls::stream<{token}, {stream.depth}>", name, argument, own, row)


def stream_extents(stream: Stream, rows: Abreast) -> tuple[int, ...]:
    """Of the array that stands for a stream, where a task has several of its FIFOs: of each copy that side by side, if
    there are several, and there for each row that it takes in turns.
    """
    sides = (rows.side_by_side,) if rows.side_by_side > 1 else ()
    if stream.name in rows.for_each:
        return (*sides, rows.each)
    return sides if rows.passing.get(stream.name) in APART else ()


def of_chunks(tasks: TaskGraph) -> tuple[str, ...]:
    """What variables of every function are called that takes chunks of a prompt: the running row, how many there are,
    what each is told; of those that are taken in turns how many, and the running one; and behind layers.
    """
    chunks = tasks.control is not None and tasks.control.rows > 1
    return ("row", "rows", "told", SEVERAL, OWN, EVERY, ALONE, NTH, BESIDE) if chunks else ()


def row_credit(task: Task, tasks: TaskGraph) -> str | None:
    """The stream of credits for rows of a chunk that a store sends, or a load takes; None where it does neither."""
    if isinstance(task, StoreTask):
        return row_credit_name(tasks.row_loads[task.name]) if task.name in tasks.row_loads else None
    return row_credit_name(task.name) if task.name in tasks.row_loads.values() else None


def go_type(task: Task, rows: int) -> str:
    """C++ of what a task is told for each token: its argument, negative behind the last token; or whether there is one.
    Where it may be a chunk of several `rows`: how many there are, 0 behind the last, and then the argument of each.
    Raises UnsupportedError where it has several.
    """
    arguments = launch_arguments([task])
    if len(arguments) > 1:
        raise UnsupportedError(f"a task of a loop over tokens can be told one number, not {len(arguments)}")
    return "int" if arguments else "bool" if rows == 1 else "unsigned char"


def done_type(store: str, tasks: TaskGraph) -> str:
    """C++ of what a store says."""
    assert tasks.control is not None
    if store != tasks.control.made:
        return "bool"
    return C_TYPE[tasks.stream[tasks.task[store].reads[0].stream].itensor.dtype]


def kernel_arguments(tasks: TaskGraph, kernel: int) -> tuple[LaunchArgument, ...]:
    """What every launch of a kernel is told, by name."""
    found = launch_arguments([task for task in tasks.tasks if task.kernel == kernel])
    if tasks.control is None:
        return found
    most = {argument.name: argument.most for argument in found}
    until, end = most[tasks.control.position], most[tasks.control.token] + 1
    told = [LaunchArgument(UNTIL, until), LaunchArgument(END, end)]
    if tasks.control.given is not None:  # `CHOOSE` follows
        found = tuple(argument for argument in found if argument.name != CHOOSE)
        told.append(LaunchArgument(FIRST, until))
    return least_of([*found, *told])


def short_names(op: LinalgOp) -> dict[str, str]:
    """The operation's values without the leading parts (h0.attn.) that all their names share."""
    values = [o.value for o in (*op.inputs, *op.outputs)]
    paths = [v.split(".") for v in values]
    limit = min(len(path) for path in paths) - 1
    shared = next((k for k in range(limit) if len({path[k] for path in paths}) > 1), limit)
    return {v: ".".join(path[shared:]) for v, path in zip(values, paths, strict=True)}


def scalars_of(task: Task) -> tuple[str, ...]:
    """Values that the task's kernel passes to it."""
    return task.scalars if isinstance(task, ComputeTask) else ()


def _argument_types(task: ComputeTask) -> dict[str, str]:
    assert task.op.body is not None
    return {o.value: C_TYPE[d] for o, d in zip(task.op.inputs, task.op.body.arg_dtypes, strict=True)}


def _stream_hints(task: Task) -> list[str]:
    """What to call the streams inside the task: by the values of its operation, else by direction."""
    if isinstance(task, StructuredTask):
        short, scalars = short_names(task.op), scalars_of(task)
        read = [short[o.value] for o in task.op.inputs if o.value not in scalars]
        return [*read, *(short[o.value] for o in task.op.outputs)]
    reads, writes = ["in" for _ in task.reads], ["out" for _ in task.writes]
    if isinstance(task, DmaTask):
        credit = ["credit" for _ in task.credits]
        reads, writes = (reads, credit) if isinstance(task, StoreTask) else (credit, writes)
    return [*reads, *writes]
