"""Names of tasks and streams: one rule for the search and for the compiled IR.

A stream is named after the task that reads it, so a name follows from the reader alone.
"""

from functools import lru_cache


@lru_cache(maxsize=4096)  # the search asks for the names of every design
def c_name(name: str) -> str:
    """`name` as a C and MLIR identifier."""
    return name.replace(".", "_")


def kernel_name(name: str, kernel: int) -> str:
    """`name`, told apart where another kernel than the first holds a task of the same kind for the same value."""
    return f"{name}_k{kernel}" if kernel else name


def load_name(value: str, kernel: int) -> str:
    return kernel_name(f"load_{c_name(value)}", kernel)


def own_load_name(value: str, kernel: int, stream: str) -> str:
    """Of a load beside others of the same value, which serves `stream` alone."""
    return f"{load_name(value, kernel)}_to_{stream}"


def fork_name(value: str, kernel: int) -> str:
    return kernel_name(f"fork_{c_name(value)}", kernel)


def shared_fork_name(value: str, stream: str) -> str:
    """The fork behind a converter of `value` that several tasks share; `stream` is what the first of them reads."""
    return f"fork_{c_name(value)}_to_{stream}"


def store_name(value: str) -> str:
    return f"store_{c_name(value)}"


def converter_name(value: str, stream: str) -> str:
    """The converter of `value` that writes `stream`."""
    return f"convert_{c_name(value)}_to_{stream}"


def input_stream(task: str) -> str:
    """The stream that a fork, converter or store reads."""
    return f"{task}_in"


@lru_cache(maxsize=4096)
def operand_stream(op: str, index: int) -> str:
    """The stream of input `index` of operation `op`."""
    return f"{c_name(op)}_in{index}"


def enter_name(value: str) -> str:
    """The task that gives layers the input `value`: the first what is loaded, the others what the one before made."""
    return f"enter_{c_name(value)}"


def leave_name(value: str) -> str:
    """The task that hands on what layers make of `value`, to the next one or out of the kernel."""
    return f"leave_{c_name(value)}"


def layer_streams(made: str, read: str) -> tuple[str, str, str]:
    """Streams of a carried value: what is loaded, what leads back, what the layers make."""
    enter = enter_name(read)
    return input_stream(enter), f"{enter}_back", input_stream(leave_name(made))


def route_in(engine: str, index: int) -> str:
    """The task in front of input `index` of an engine."""
    return f"{engine}_route{index}"


def joint_load_name(engine: str, index: int) -> str:
    """The load of all that an engine's operations read as input `index`."""
    return load_name(operand_stream(engine, index), 0)


def route_out(engine: str) -> str:
    """The task behind an engine."""
    return f"{engine}_results"


def slice_name(engine: str, number: int) -> str:
    """A slice of an engine that is cut."""
    return f"{engine}_slice{number}"


def engine_names(engine: str, slices: int) -> list[str]:
    """The tasks that have the lanes of an engine."""
    return [engine] if slices == 1 else [slice_name(engine, number) for number in range(slices)]


def deal_name(engine: str, index: int) -> str:
    """The task that gives each slice its part of input `index`, or the whole one; then one of a chain."""
    return f"{engine}_deal{index}"


def share_name(stream: str) -> str:
    """The task that hands on the tokens of `stream`, which comes to it once, to rows side by side."""
    return f"{stream}_share"


def join_name(engine: str) -> str:
    """The task that puts together what slices make."""
    return f"{engine}_join"


def widening_name(stream: str) -> str:
    """The task that puts the tokens of `stream` together from the words that a load brings."""
    return f"{stream}_widening"


def relay_name(stream: str, number: int) -> str:
    """A task that carries `stream` towards the next die; they are numbered from where it is written."""
    return f"{stream}_relay{number}"
