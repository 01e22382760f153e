"""Runs linalg with LLVM, one operation of @main after the other. In the worker process only.

Each is a function of its own: for one that holds them all LLVM takes quadratic time, 4 s for 50 products and 54 s for
200. Operations that do the same on the same shapes share theirs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from ctypes import c_void_p, pointer
from ctypes import cast as c_cast
from typing import Any, cast

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# (torch-mlir has no types)
import numpy as np
from numpy.typing import NDArray
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager
from torch_mlir.runtime import get_ranked_memref_descriptor

from compiler.errors import UnsupportedError
from compiler.frontend.interpret import NUMPY_DTYPE
from compiler.frontend.lowering.source import PATH_ATTRIBUTE
from compiler.frontend.memref import memref_copy
from compiler.frontend.torch_mlir_import import first_error

# Without modify-public-functions the outputs would silently stay zero.
_PIPELINE = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{hoist-static-allocs=true modify-public-functions=true},"
    "func.func(convert-linalg-to-affine-loops),lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-math-to-llvm,convert-math-to-libm,arith-expand,convert-arith-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)"
)
Array = NDArray[Any]


def run_linalg(generic: str, arguments: Sequence[Array]) -> list[Array]:
    """What @main makes of its arguments, which stay as they are.

    Raises UnsupportedError where an operation cannot be compiled. The text must be what `lowering.source` accepts: no
    more than that is safe to run.
    """
    with ir.Context(), ir.Location.unknown():
        source = ir.Module.parse(generic)
        block = source.body.operations[0].regions[0].blocks[0]
        *operations, end = (operation.operation for operation in block.operations)
        code = _Code()
        steps = [_Step(operation, code) for operation in operations if not _is_detail(operation)]
        engine = code.compiled()
        copy = memref_copy()  # the code calls it as long as it lives
        engine.raw_register_runtime("memrefCopy", cast(Any, c_cast(copy, c_void_p)))
        values: dict[Any, Array] = dict(zip(block.arguments, arguments, strict=True))
        readers = Counter(value for given in (*(step.given for step in steps), end.operands) for value in given)
        for step in steps:
            made = step.run(engine, values)
            values.update((v, a) for v, a in zip(step.made, made, strict=True) if readers[v])
            readers.subtract(step.given)
            for value in step.given:
                if not readers[value]:
                    del values[value]
        return [values[value] for value in end.operands]


class _Code:
    """A module of functions, each of one operation, from the tensors that it reads to those that it makes."""

    def __init__(self) -> None:
        self._module = ir.Module.create()
        self._names: dict[str, str] = {}

    def add(self, operation: Any, given: Sequence[Any]) -> str:
        """The name of the function that does the operation."""
        with ir.InsertionPoint(self._module.body):
            function = func.FuncOp("same", ([v.type for v in given], [r.type for r in operation.results]))
        function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        # Else a result may be written over an argument, which others still read.
        function.arg_attrs = [ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})] * len(given)
        with ir.InsertionPoint(function.add_entry_block()):
            func.ReturnOp(_copied(operation, dict(zip(given, function.arguments, strict=True))).results)
        text = str(function)
        if text in self._names:
            function.erase()
            return self._names[text]
        name = self._names[text] = f"step{len(self._names)}"
        function.attributes["sym_name"] = ir.StringAttr.get(name)
        return name

    def compiled(self) -> ExecutionEngine:
        try:
            PassManager.parse(_PIPELINE).run(self._module.operation)
            return ExecutionEngine(self._module, opt_level=2)
        except (ir.MLIRError, RuntimeError) as error:
            raise UnsupportedError(f"the linalg cannot be run: {first_error(error)}") from error


class _Step:
    """An operation of @main: the tensors of @main that it reads and makes, and the code of it."""

    def __init__(self, operation: Any, code: _Code) -> None:
        self.given = tuple(dict.fromkeys(_tensors_read(operation)))
        self.made = tuple(operation.results)
        self._results = [(made.type.shape, _dtype(made.type.element_type)) for made in self.made]
        self._function = code.add(operation, self.given)

    def run(self, engine: ExecutionEngine, values: Mapping[Any, Array]) -> list[Array]:
        given = [np.ascontiguousarray(values[value]) for value in self.given]
        made = [np.zeros(shape, kind) for shape, kind in self._results]
        engine.invoke(self._function, *(pointer(pointer(get_ranked_memref_descriptor(a))) for a in (*given, *made)))
        return made


def _dtype(element: Any) -> type[np.generic]:
    if (found := NUMPY_DTYPE.get(str(element))) is None:
        raise UnsupportedError(f"the linalg cannot be run: numpy has no {element}")
    return found


def _is_detail(operation: Any) -> bool:
    """Whether it goes into the code of each that reads it: a scalar, or a tensor without contents."""
    makes_tensors = any(isinstance(result.type, ir.RankedTensorType) for result in operation.results)
    return operation.name == "tensor.empty" or not makes_tensors


def _tensors_read(operation: Any) -> Iterator[Any]:
    for value in _read(operation):
        if isinstance(value.owner, ir.Block) or not _is_detail(value.owner.operation):
            yield value
        else:
            yield from _tensors_read(value.owner.operation)


def _read(operation: Any) -> list[Any]:
    """The values of @main that it or what is inside it reads."""
    values = [value for inner in _all_of(operation) for value in inner.operands]
    return [value for value in values if _block(value) == operation.block]


def _block(value: Any) -> Any:
    """The block that it belongs to."""
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block


def _all_of(operation: Any) -> Iterator[Any]:
    """The operation and all inside it."""
    yield operation
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _all_of(inner.operation)


def _copied(operation: Any, copies: dict[Any, Any]) -> Any:
    """A copy of it at the insertion point, behind copies of the details that it reads, which are added to `copies`."""
    for value in _read(operation):
        if value not in copies:
            detail = value.owner.operation
            copies.update(zip(detail.results, _copied(detail, copies).results, strict=True))
    copy = operation.clone().operation
    if PATH_ATTRIBUTE in copy.attributes:
        del copy.attributes[PATH_ATTRIBUTE]  # which differs where the code is the same
    for inner in _all_of(copy):
        for place, value in enumerate(inner.operands):
            inner.operands[place] = copies.get(value, value)
    return copy
