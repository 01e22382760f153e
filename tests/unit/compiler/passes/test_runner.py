"""Every pass is held to valid IR, and the error names it."""

from dataclasses import dataclass

import pytest
from small_graphs import softmax
from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.dialects.context import design_context
from compiler.dialects.dataflow_task import TaskOp
from compiler.errors import VerificationError
from compiler.passes.runner import print_module, run_passes
from compiler.transforms.import_linalg import import_linalg


@dataclass(frozen=True)
class KeepPass(ModulePass):
    """Changes nothing."""

    name = "keep"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@dataclass(frozen=True)
class BreakPass(ModulePass):
    """Leaves a task without what combines its partial results."""

    name = "break"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        task = next(o for o in op.walk() if isinstance(o, TaskOp) and o.combiner is not None)
        task.combiner = None


@dataclass(frozen=True)
class RefusePass(ModulePass):
    """Finds fault with everything."""

    name = "refuse"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("not with me")


def test_stages_are_numbered() -> None:
    stages: list[tuple[int, str]] = []
    module = import_linalg(softmax())
    run_passes(module, (KeepPass(), KeepPass()), design_context(), lambda n, name, _: stages.append((n, name)), first=3)
    assert stages == [(3, "keep"), (4, "keep")]


def test_pass_that_breaks_the_ir_is_named() -> None:
    with pytest.raises(VerificationError, match=r"not valid after break.*reduction loops need `reduce`"):
        run_passes(import_linalg(softmax()), (KeepPass(), BreakPass()), design_context())


def test_broken_input_is_not_blamed_on_the_pass() -> None:
    module = import_linalg(softmax())
    BreakPass().apply(design_context(), module)
    with pytest.raises(VerificationError, match="not valid before keep"):
        run_passes(module, (KeepPass(),), design_context())


def test_refusal_names_the_pass() -> None:
    with pytest.raises(VerificationError, match="refuse can not be applied: not with me"):
        run_passes(import_linalg(softmax()), (RefusePass(),), design_context())


def test_printed_module_ends_with_a_new_line() -> None:
    assert print_module(import_linalg(softmax())).endswith("}\n")
