"""Runs passes over a module and holds every one of them to its contract: the IR is valid before and after."""

from collections.abc import Callable, Sequence
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException

from compiler.errors import VerificationError

OnStage = Callable[[int, str, ModuleOp], None]


def print_module(module: ModuleOp) -> str:
    """The module as text that a person can read and the parser takes back."""
    stream = StringIO()
    Printer(stream).print_op(module)
    return f"{stream.getvalue()}\n"


def _verify(module: ModuleOp, when: str) -> None:
    try:
        module.verify()
    except DiagnosticException as error:
        raise VerificationError(f"the IR is not valid {when}: {error}") from error


def run_passes(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    context: Context,
    on_stage: OnStage | None = None,
    first: int = 1,
) -> None:
    """Apply `passes` in order, in place. `on_stage(number, pass name, module)` is called after each, from `first` on.

    Raises VerificationError that names the pass where the IR was not valid before it, or is not after it.
    """
    _verify(module, f"before {passes[0].name}" if passes else "and no pass was run")
    for number, pass_ in enumerate(passes, first):
        try:
            pass_.apply(context, module)
        except DiagnosticException as error:
            raise VerificationError(f"{pass_.name} can not be applied: {error}") from error
        _verify(module, f"after {pass_.name}")
        if on_stage is not None:
            on_stage(number, pass_.name, module)
