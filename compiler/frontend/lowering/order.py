"""Loop order: what a reduction sums over comes last, in the reduction and in the operation that feeds it.

A quantised product arrives as [group, row, output] and is summed over its groups. With the groups outside, every
partial sum waits on chip; with the groups inside, one does.
"""

from dataclasses import replace

from compiler.frontend.lowering.normal_form import Draft
from compiler.graph.linalg_graph import LinalgOp, Operand


def reductions_inside(draft: Draft) -> None:
    """Reorder loops in place. Only the nests change, never what is computed."""
    for op in list(draft.ops):
        if op.reduction is not None and not op.is_contraction and _reads_whole_nest(op):
            inside = [d for d, kind in enumerate(op.iterators) if kind == "reduction"]
            _replace(draft, op, _permuted(op, _last(op, inside)))
    for name in [op.name for op in draft.ops]:
        op = next(o for o in draft.ops if o.name == name)
        reader = _only_reader(draft, op)
        if op.kind == "generic" and reader is not None and reader.reduction is not None:
            _follow(draft, op, reader)


def _reads_whole_nest(op: LinalgOp) -> bool:
    return any(len(o.dims) == len(op.loops) for o in op.inputs)


def _follow(draft: Draft, op: LinalgOp, reader: LinalgOp) -> None:
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
    _replace(draft, op, replace(made, outputs=(output,)))
    read = tuple(Operand(o.value, tuple(o.dims[i] for i in order)) if o.value == value else o for o in reader.inputs)
    _replace(draft, reader, replace(reader, inputs=read))
    old = draft.values[value]
    draft.values[value] = replace(old, shape=tuple(old.shape[i] for i in order))


def _only_reader(draft: Draft, op: LinalgOp) -> LinalgOp | None:
    value = op.outputs[0].value
    readers = [other for other in draft.ops if any(o.value == value for o in other.inputs)]
    if len(readers) != 1 or any(o.value == value for o in draft.outputs):
        return None
    return readers[0]


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
        loops=tuple(op.loops[d] for d in order),
        iterators=tuple(op.iterators[d] for d in order),
        groups=tuple(number[g] for g in groups),
        inputs=moved(op.inputs),
        outputs=moved(op.outputs),
    )


def _replace(draft: Draft, old: LinalgOp, new: LinalgOp) -> None:
    names = [op.name for op in draft.ops]
    draft.ops[names.index(old.name)] = new
