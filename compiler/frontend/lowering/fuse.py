"""Fusion of elementwise operations into the operation that reads them, and folding of casts into contractions.

An operation is fused only where nothing is computed twice: its consumer walks the same points and is its only reader.
Contractions take in casts alone, so that a product stays a product.
"""

from collections.abc import Callable
from dataclasses import replace

from compiler.frontend.lowering.normal_form import Draft
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.frontend.scalar_ops import is_widening
from compiler.graph.linalg_graph import LinalgOp, Operand


def fuse(draft: Draft) -> None:
    """Rewrite `draft` in place to a fixpoint: casts first, then elementwise chains, then into reductions."""
    for producer in list(draft.ops):
        readers = [op for op in draft.ops if any(o.value == producer.outputs[0].value for o in op.inputs)]
        if readers and all(_takes_cast(draft, producer, reader) for reader in readers):
            _merge(draft, producer, readers)
    for takes in (_takes_elementwise, _takes_into_reduction):
        while (pair := _find(draft, takes)) is not None:
            _merge(draft, pair[0], [pair[1]])
    _drop_unread(draft)


def _takes_cast(draft: Draft, producer: LinalgOp, consumer: LinalgOp) -> bool:
    """A cast is free: every product that reads it can have its own, and streams stay narrow."""
    value = producer.outputs[0].value
    return (
        consumer.reduction is not None
        and consumer.body is not None
        and consumer.body.is_product
        and len(_maps(consumer, value)) == 1
        and producer.body is not None
        and is_widening(producer.body)
        and all(o.value != value for o in draft.outputs)
    )


def _takes_elementwise(producer: LinalgOp, consumer: LinalgOp) -> bool:
    return consumer.reduction is None and producer.iterations == consumer.iterations


def _takes_into_reduction(producer: LinalgOp, consumer: LinalgOp) -> bool:
    ranked = [o for o in consumer.inputs if o.dims]
    return consumer.reduction is not None and len(ranked) == 1 and producer.iterations == consumer.iterations


def _find(draft: Draft, takes: Callable[[LinalgOp, LinalgOp], bool]) -> tuple[LinalgOp, LinalgOp] | None:
    """A producer and its only reader that `takes` accepts."""
    kept = {o.value for o in draft.outputs}
    readers: dict[str, list[LinalgOp]] = {}
    for op in draft.ops:
        for value in dict.fromkeys(o.value for o in op.inputs):
            readers.setdefault(value, []).append(op)
    for producer in draft.ops:
        if producer.kind != "generic" or producer.reduction is not None:
            continue
        value = producer.outputs[0].value
        uses = readers.get(value, [])
        if value in kept or len(uses) != 1 or uses[0].kind != "generic" or len(_maps(uses[0], value)) != 1:
            continue
        if takes(producer, uses[0]):
            return producer, uses[0]
    return None


def _maps(op: LinalgOp, value: str) -> set[tuple[int, ...]]:
    return {o.dims for o in op.inputs if o.value == value}


def _merge(draft: Draft, producer: LinalgOp, consumers: list[LinalgOp]) -> None:
    """Replace each consumer by one operation that computes both; its name, loops and path stay."""
    for consumer in consumers:
        draft.ops[draft.ops.index(consumer)] = _merged(producer, consumer)
    draft.ops.remove(producer)
    del draft.values[producer.outputs[0].value]


def _merged(producer: LinalgOp, consumer: LinalgOp) -> LinalgOp:
    assert producer.body is not None
    assert consumer.body is not None
    value = producer.outputs[0].value
    (dims,) = _maps(consumer, value)
    loop_of = dict(zip(producer.outputs[0].dims, dims, strict=True))
    builder = BodyBuilder()
    arguments: dict[Operand, int] = {}

    def argument(operand: Operand, dtype: str) -> int:
        if operand not in arguments:
            arguments[operand] = builder.arg(dtype)
        return arguments[operand]

    moved = [Operand(o.value, tuple(loop_of[d] for d in o.dims)) for o in producer.inputs]
    values: list[int] = []
    for operand, dtype in zip(consumer.inputs, consumer.body.arg_dtypes, strict=True):
        if operand.value != value:
            values.append(argument(operand, dtype))
            continue
        inner = [argument(o, t) for o, t in zip(moved, producer.body.arg_dtypes, strict=True)]
        values.append(builder.replay(producer.body, inner))
    body, used = builder.finish(builder.replay(consumer.body, values))
    operands = list(arguments)
    return replace(consumer, inputs=tuple(operands[i] for i in used), body=body)


def _drop_unread(draft: Draft) -> None:
    """Remove operations and arguments that no output depends on."""
    read = {o.value for o in draft.outputs}
    for op in reversed(list(draft.ops)):
        if not any(o.value in read for o in op.outputs):
            draft.ops.remove(op)
            continue
        read |= {o.value for o in op.inputs}
    made = {o.value for op in draft.ops for o in op.outputs}
    draft.values = {name: v for name, v in draft.values.items() if name in read or name in made}
