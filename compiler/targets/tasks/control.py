"""C++ of what starts the tasks anew for each token of a launch: on the card what a host does between launches."""

from collections.abc import Iterator

from compiler.graph.task_graph import AT_ONCE, CHOOSE, CONTROL, END, FIRST, UNTIL, TaskGraph, done_name, go_name
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
    yield from ((go_type(task), go_name(task.name)) for task in tasks.tasks)
    yield from ((done_type(store, tasks), done_name(store)) for store in tasks.control.reporting)


def emit_control(tasks: TaskGraph, out: CppWriter) -> None:
    """Words of a token in one step, what stores answer in another, behind it: HLS may put a write and the read of its
    answer into one cycle (UCLA-VAST/tapa, 111).
    """
    control = tasks.control
    assert control is not None
    token, position = identifier(control.token), identifier(control.position)
    given = control.given is not None
    wanted = f" from {FIRST} on" if given else ""
    out.comment(f"Starts every task for each token, from {position} to {UNTIL}, or until the token is {END}{wanted}.")
    out.statement(f"void {CONTROL}", [p.declaration for p in control_parameters(tasks)], " {")
    with out.indented():
        with out.block("for (bool more = true; more;)"):
            if given and any(a.name == CHOOSE for a in launch_arguments(tasks.tasks)):
                out.line(f"const int {CHOOSE} = {position} >= {FIRST};")
            with out.protocol():
                for number, task in enumerate(tasks.tasks):
                    if number and number % AT_ONCE == 0:
                        out.line("ap_wait();")
                    arguments = launch_arguments([task])
                    out.line(f"{go_name(task.name)}.write({identifier(arguments[0].name) if arguments else 'true'});")
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
