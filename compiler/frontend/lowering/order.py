"""Loop order: what a reduction sums over comes last, in the reduction and in the operation that feeds it.

A quantised product arrives as [group, row, output] and is summed over its groups. With the groups outside, every
partial sum waits on chip; with the groups inside, one does.
"""

from dataclasses import replace

from compiler.frontend.lowering.normal_form import Draft
from compiler.graph.linalg_graph import LinalgOp, Operand


def reductions_inside(draft: Draft) -> None:
    """Reorder loops in place. Only the nests change, never what is computed."""
    ops = {op.name: op for op in draft.ops}
    for op in draft.ops:
        if op.reduction is not None and not op.is_contraction and _reads_whole_nest(op):
            inside = [d for d, kind in enumerate(op.iterators) if kind == "reduction"]
            ops[op.name] = _permuted(op, _last(op, inside))
    only_reader = _only_readers(draft)
    for name in list(ops):
        op = ops[name]
        reader = ops.get(only_reader.get(op.outputs[0].value, ""))
        if op.kind == "generic" and reader is not None and reader.reduction is not None:
            _follow(draft, ops, op, reader)
    draft.ops = list(ops.values())


def _reads_whole_nest(op: LinalgOp) -> bool:
    return any(len(o.dims) == len(op.loops) for o in op.inputs)


def _follow(draft: Draft, ops: dict[str, LinalgOp], op: LinalgOp, reader: LinalgOp) -> None:
    """Order the loops of `op`, and the dimensions of its value, as `reader` walks them."""
    value = op.outputs[0].value
    uses = [o for o in reader.inputs if o.value == value]
    if len(uses) != 1 or len(uses[0].dims) != len(reader.loops):
        return
    walked = uses[0].dims
    order = sorted(range(len(walked)), key=lambda i: walked[i])  # dimensions of the value, as the reader's loops
    written = op.outputs[0].dims
    rest = [d for d in range(len(op.loops)) if d not in written]
    made = _permuted(op, [*(written[i] for i in order), *rest])
    output = Operand(value, tuple(made.outputs[0].dims[i] for i in order))
    ops[op.name] = replace(made, outputs=(output,))
    read = tuple(Operand(o.value, tuple(o.dims[i] for i in order)) if o.value == value else o for o in reader.inputs)
    ops[reader.name] = replace(reader, inputs=read)
    old = draft.values[value]
    draft.values[value] = replace(old, shape=tuple(old.shape[i] for i in order))


def _only_readers(draft: Draft) -> dict[str, str]:
    """The name of the operation that reads a value, of those that have one reader and are no results."""
    readers: dict[str, set[str]] = {}
    for op in draft.ops:
        for operand in op.inputs:
            readers.setdefault(operand.value, set()).add(op.name)
    results = {o.value for o in draft.outputs}
    return {v: next(iter(names)) for v, names in readers.items() if len(names) == 1 and v not in results}


def _last(op: LinalgOp, loops: list[int]) -> list[int]:
    return [*(d for d in range(len(op.loops)) if d not in loops), *loops]


def _permuted(op: LinalgOp, order: list[int]) -> LinalgOp:
    """The same operation with its loops in `order`; groups are numbered anew, outermost first."""
    position = {old: new for new, old in enumerate(order)}
    groups = [op.groups[d] for d in order]
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}

    def moved(uses: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(Operand(o.value, tuple(position[d] for d in o.dims)) for o in uses)

    return replace(
        op,
        body=op.body.at_loops(position) if op.body is not None else None,
        loops=tuple(op.loops[d] for d in order),
        iterators=tuple(op.iterators[d] for d in order),
        groups=tuple(number[g] for g in groups),
        inputs=moved(op.inputs),
        outputs=moved(op.outputs),
    )
