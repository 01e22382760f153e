"""C++ of what starts the tasks anew for each token of a launch: on the card what a host does between launches."""

from collections.abc import Iterator, Sequence

from compiler.graph.abreast import copy_name
from compiler.graph.program import behind_layers
from compiler.graph.task_graph import (
    AT_ONCE,
    CHOOSE,
    CONTROL,
    END,
    FIRST,
    UNTIL,
    Control,
    Task,
    TaskGraph,
    done_name,
    given_name,
    go_name,
    row_credit_name,
)
from compiler.targets.parameters import Parameter, done_type, go_type, kernel_arguments, launch_arguments
from compiler.targets.writer import CppWriter, identifier


def control_parameters(tasks: TaskGraph) -> tuple[Parameter, ...]:
    """Of its function: words to every task, what stores answer, arguments of the launch."""
    assert tasks.control is not None
    found = [Parameter(f"hls::stream<{kind}>&", name, name) for kind, name in control_streams(tasks)]
    told = (identifier(argument.name) for argument in kernel_arguments(tasks, 0))
    return (*found, *(Parameter("int", name, name) for name in told))


def control_streams(tasks: TaskGraph) -> Iterator[tuple[str, str]]:
    """C++ type and name of each."""
    assert tasks.control is not None
    for task in tasks.tasks:
        for copy in range(tasks.copies(task.name)):
            yield go_type(tasks.of_copy(task, copy), tasks.control.rows), go_name(copy_name(task.name, copy))
    yield from ((done_type(store, tasks), done_name(store)) for store in tasks.control.reporting)
    if tasks.control.rows > 1 and tasks.control.given is not None:
        yield "int", given_name(tasks.control.given)


def row_streams(tasks: TaskGraph) -> Iterator[tuple[str, str]]:
    """C++ type and name of the credits by which loads follow stores within a chunk."""
    yield from (("bool", row_credit_name(load)) for load in tasks.row_loads.values())


def emit_control(tasks: TaskGraph, out: CppWriter) -> None:
    """Words of a token in one step, what stores answer in another, behind it: HLS may put a write and the read of its
    answer into one cycle (UCLA-VAST/tapa, 111).
    """
    control = tasks.control
    assert control is not None
    if control.rows > 1:
        _emit_chunks(tasks, control, out)
        return
    token, position = identifier(control.token), identifier(control.position)
    given = control.given is not None
    wanted = f" from {FIRST} on" if given else ""
    out.comment(f"Starts every task for each token, from {position} to {UNTIL}, or until the token is {END}{wanted}.")
    out.statement(f"void {CONTROL}", [p.declaration for p in control_parameters(tasks)], " {")
    with out.indented():
        with out.block("for (bool more = true; more;)"):
            if given and any(a.name == CHOOSE for a in launch_arguments(tasks.tasks)):
                out.line(f"const int {CHOOSE} = {position} >= {FIRST};")
            told = [(task, launch_arguments([task])) for task in tasks.tasks]
            words = [(go_name(task.name), identifier(a[0].name) if a else "true") for task, a in told]
            _write_at_once([f"{go}.write({word});" for go, word in words], out)
            with out.protocol():
                for store in control.kept:
                    out.line(f"{done_name(store)}.read();")
                out.line(f"{token} = int({done_name(control.made)}.read());")
            goes_on = f"({position} < {FIRST} || {token} != {END})" if given else f"{token} != {END}"
            out.line(f"more = {position} < {UNTIL} && {goes_on};")
            out.line(f"++{position};")
        for task in tasks.tasks:
            out.line(f"{go_name(task.name)}.write({-1 if launch_arguments([task]) else 'false'});")
    out.line("}")
    out.line()


def _emit_chunks(tasks: TaskGraph, control: Control, out: CppWriter) -> None:
    """The same for tokens of a prompt, some at once."""
    token, position, rows = identifier(control.token), identifier(control.position), control.rows
    assert control.given is not None
    given, others = tasks.task[control.given], [task for task in tasks.tasks if task.name != control.given]
    out.comment(
        f"Starts every task for each token, from {position} to {UNTIL}, or until the token is {END} from {FIRST} on."
    )
    out.comment(f"Up to {FIRST} they are a prompt's, {rows} at once: how many there are, and what each is told.")
    out.statement(f"void {CONTROL}", [p.declaration for p in control_parameters(tasks)], " {")
    with out.indented():
        out.line(f"int ids[{rows}];")
        with out.block("for (bool more = true; more;)"):
            out.line(f"const int left = {position} < {FIRST} ? {FIRST} - {position} + 1 : 1;")
            out.line(f"const int rows = left < {rows} ? left : {rows};")
            out.line(f"ids[0] = {token};")
            _emit_words([given], tasks, out)
            with out.block("for (int row = 1; row < rows; ++row)"):
                out.pragma(f"loop_tripcount min=1 max={rows} avg=1")
                out.line(f"ids[row] = {given_name(given.name)}.read();")
            _emit_words(others, tasks, out)
            with out.protocol():
                for store in control.kept:
                    out.line(f"{done_name(store)}.read();")
                out.line(f"{token} = int({done_name(control.made)}.read());")
            out.line(f"{position} += rows;")
            out.line(f"more = {position} <= {UNTIL} && ({position} <= {FIRST} || {token} != {END});")
        for task in tasks.tasks:
            for copy in range(tasks.copies(task.name)):
                out.line(f"{go_name(copy_name(task.name, copy))}.write(0);")
    out.line("}")
    out.line()


def _emit_words(tasks: Sequence[Task], design: TaskGraph, out: CppWriter) -> None:
    """To each of these tasks how many rows there are, to each copy of one how many it has of them; then what those are
    told that need it, row by row.
    """
    control = design.control
    assert control is not None
    words = [word for task in tasks for word in _words(task, design)]
    position = identifier(control.position)
    values = {control.token: "ids[row]", control.position: f"{position} + row", CHOOSE: f"{position} + row >= {FIRST}"}
    arguments = {task.name: launch_arguments([task]) for task in tasks}
    _write_at_once(words, out)
    if not any(arguments.values()):
        return
    with out.block("for (int row = 0; row < rows; ++row)"):
        out.pragma(f"loop_tripcount min=1 max={control.rows} avg=1")
        told = [(task, argument) for task in tasks for argument in arguments[task.name]]
        _write_at_once([f"{go_name(task.name)}.write({values[argument.name]});" for task, argument in told], out)


def _write_at_once(words: Sequence[str], out: CppWriter) -> None:
    """Some in each cycle: that one FIFO is full holds up all of these."""
    with out.protocol():
        for number, word in enumerate(words):
            if number and number % AT_ONCE == 0:
                out.line("ap_wait();")
            out.line(word)


def _words(task: Task, tasks: TaskGraph) -> Iterator[str]:
    """That start the task, and copies of it that have rows of the chunk; one that does what is behind layers for all
    rows is told of all.
    """
    copies = tasks.copies(task.name)
    for copy in range(copies):
        all_rows = copies == 1 or (copy == 0 and behind_layers(task.program))
        own = "rows" if all_rows else f"(rows + {copies - 1 - copy}) / {copies}"
        word = f"{go_name(copy_name(task.name, copy))}.write({own});"
        yield f"if (rows > {copy}) {word}" if copy else word
