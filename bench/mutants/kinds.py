"""The kinds of mistakes: those made in the function of a task, and those made in a kernel."""

from collections.abc import Callable, Iterable

from bench.mutants import addresses, control, masks, values, windows, wiring
from bench.mutants.edits import Place
from bench.mutants.source import Function
from bench.mutants.wiring import Kernel

IN_TASKS: dict[str, Callable[[Function], Iterable[Place]]] = {
    "index": addresses.index,
    "bound": control.bound,
    "constant x1.1": values.constant(1.1),
    "constant x1.01": values.constant(1.01),
    "constant x(1+2^-10)": values.constant(1 + 2**-10),
    "gate": control.gate,
    "order": control.order,
    "operator": values.operator,
    "bank": addresses.bank,
    "cache position": addresses.cache,
    "mask": masks.mask,
    "scale": values.scale,
    "rounding": values.rounding,
    "saturation": values.saturation,
    "sign": values.sign,
    "converter address": addresses.converter,
    "window": windows.window,
}
IN_KERNELS: dict[str, Callable[[Kernel], dict[str, list[Place]]]] = {
    "FIFO depth": wiring.depth,
    "wiring": wiring.wiring,
}
KINDS = (*IN_TASKS, *IN_KERNELS)
