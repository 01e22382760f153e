"""Imports an .mlir file: linalg on tensors, one function @main, shapes fixed, contents seeded.

An argument with `millrace.role = "param"` is a weight, any other an input; `millrace.name` names an argument or result.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.imported import Imported, Sample
from compiler.frontend.inputs.names import unique_names
from compiler.frontend.inputs.source import FileSource
from compiler.frontend.interpret import NUMPY_DTYPE, interpret, outputs_of
from compiler.frontend.linalg_engine import run_linalg
from compiler.frontend.lowering.lower import lower
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.lowering.source import Generic, SourceModule, Tensor, Window, parse_source
from compiler.frontend.scan.bounds import MAX_CONTENT, MAX_ELEMENTS, MAX_OPERATIONS, MAX_STEPS
from compiler.frontend.seeds import following, seeded
from compiler.frontend.torch_mlir_import import TextModule, import_text

Array = NDArray[Any]
ENGINE, INTERPRETER = "MLIR ExecutionEngine", "numpy interpreter"
_DIALECTS = ("linalg.", "arith.", "math.")
_OTHERS = frozenset(
    (
        *("builtin.module", "func.func", "func.return"),
        *("tensor.empty", "tensor.expand_shape", "tensor.collapse_shape", "tensor.extract_slice", "tensor.concat"),
        *("tensor.pad", "tensor.yield"),
    )
)
_ROLES = ("param", "input", "state")
_DTYPES = ("f32", "i32", "i8")


def import_mlir_file(source: FileSource, batch: int, on_progress: Callable[[str], None]) -> Imported:
    """The network of the file with a `batch` of inputs. Raises InvalidInputError, UnsupportedError, naming the line."""
    on_progress(f"reading {source.name}.mlir")
    try:
        text = source.path.read_text()
    except ValueError as error:
        raise InvalidInputError(f"{source.name}.mlir is not text: {error}") from error
    module = import_text(text, _Checker())
    parsed = parse_source(module.generic)  # before anything runs: only what the graph knows
    arguments, outputs = _arguments(module), _outputs(module)
    for argument, tensor in zip(arguments, parsed.arguments, strict=True):
        _check_argument(argument, tensor)
    _check_cost(parsed)
    tensors = {a.name: _content(a, t) for a, t in zip(arguments, parsed.arguments, strict=True)}
    on_progress("running the reference")
    expected, reference = _expected(module, arguments, outputs, tensors)
    others = list[Sample]()
    for number in range(1, batch):
        pairs = zip(arguments, parsed.arguments, strict=True)
        given = {a.name: _content(a, t, number) for a, t in pairs if a.role != "param"}
        made, _ = _expected(module, arguments, outputs, {**tensors, **given})
        others.append(Sample(given, made))
    return Imported(
        module.generic,
        module.pretty,
        arguments,
        outputs,
        tensors,
        expected,
        weights="seeded",
        reference=reference,
        others=tuple(others),
    )


class _Checker:
    """Refuses foreign operations and what is too large, by line."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, operation: str, line: int, shapes: tuple[tuple[int, ...], ...]) -> None:
        self._count += 1
        if self._count > MAX_OPERATIONS:
            raise InvalidInputError(f"the module has more than {MAX_OPERATIONS} operations; split it")
        if not operation.startswith(_DIALECTS) and operation not in _OTHERS:
            raise UnsupportedError(
                f"line {line}: {operation} is not supported; linalg, arith, math and reshapes, slices and "
                "concatenations of tensors are"
            )
        for shape in shapes:
            if any(extent < 1 for extent in shape) or prod(shape) > MAX_ELEMENTS:
                raise UnsupportedError(
                    f"line {line}: {operation} makes a tensor of {['?' if n < 0 else n for n in shape]}; fixed sizes "
                    f"of at least 1, {MAX_ELEMENTS} elements in all, are supported"
                )


def _arguments(module: TextModule) -> tuple[Argument, ...]:
    plain = [given.get("millrace.name", f"arg{i}") for i, given in enumerate(module.arguments)]
    roles = [given.get("millrace.role", "input") for given in module.arguments]
    for name, role in zip(plain, roles, strict=True):
        if role not in _ROLES:
            raise InvalidInputError(f"millrace.role of {name} is {role!r}; it must be one of {', '.join(_ROLES)}")
    names = unique_names(plain, "arg", set())
    return tuple(Argument(n, r) for n, r in zip(names, roles, strict=True) if r in _ROLES)


def _outputs(module: TextModule) -> tuple[str, ...]:
    if not module.results:
        raise InvalidInputError("@main returns nothing; return the results as tensors")
    return tuple(unique_names((r.get("millrace.name", f"out{i}") for i, r in enumerate(module.results)), "out", set()))


def _check_argument(argument: Argument, tensor: Tensor) -> None:
    if tensor.dtype not in _DTYPES or any(extent < 1 for extent in tensor.shape):
        raise UnsupportedError(
            f"argument {argument.name} is {tensor.dtype}{list(tensor.shape)}; tensors of {', '.join(_DTYPES)} with "
            "fixed sizes are supported"
        )
    if (elements := prod(tensor.shape)) > MAX_ELEMENTS:
        raise InvalidInputError(f"argument {argument.name} has {elements} elements; at most {MAX_ELEMENTS} work")


def _check_cost(module: SourceModule) -> None:
    """What the compiled reference holds, and how long it runs. Raises InvalidInputError."""
    nests = [op for op in module.ops if isinstance(op, Generic)]
    windows = [op.result for op in module.ops if isinstance(op, Window)]
    elements = sum(prod(t.shape) for t in (*module.arguments, *windows, *(t for op in nests for t in op.results)))
    if elements > MAX_CONTENT:
        raise InvalidInputError(f"the module has {elements} elements in all; at most {MAX_CONTENT} work")
    if (steps := sum(prod(op.loops) for op in nests)) > MAX_STEPS:
        raise InvalidInputError(f"the loop nests take {steps} steps; at most {MAX_STEPS} work: use fewer rows")


def _content(argument: Argument, tensor: Tensor, number: int = 0) -> Array:
    """Seeded by name and the `number` in a batch: inputs of unit variance, weights so that a product keeps it, whole
    numbers of 8 bits.
    """
    spread = 1.0
    if tensor.dtype != "f32":
        spread = 32.0
    elif argument.role == "param" and len(tensor.shape) > 1:
        spread = max(tensor.shape) ** -0.5
    values = seeded(following(argument.name, number), tensor.shape, spread)
    if tensor.dtype == "f32":
        return values
    return np.clip(np.rint(values), -127, 127).astype(NUMPY_DTYPE[tensor.dtype])


def _expected(
    module: TextModule, arguments: tuple[Argument, ...], outputs: tuple[str, ...], tensors: dict[str, Array]
) -> tuple[dict[str, Array], str]:
    """The results, and what computed them: compiled code of LLVM, or our interpreter where MLIR has no code for it."""
    try:
        results = run_linalg(module.generic, list(tensors.values()))
        made, reference = dict(zip(outputs, results, strict=True)), ENGINE
    except UnsupportedError:
        graph = lower("reference", module.generic, arguments, outputs)
        made, reference = outputs_of(graph, interpret(graph, tensors)), INTERPRETER
    for name, result in made.items():
        if result.dtype.kind == "f" and not np.isfinite(result).all():
            raise InvalidInputError(f"the result {name} is not finite on random inputs; check divisions and roots")
    return made, reference
