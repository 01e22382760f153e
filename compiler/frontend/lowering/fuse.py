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
    network = _Network(draft)
    for producer in map(network.ops.__getitem__, list(network.ops)):
        readers = network.readers(producer.outputs[0].value)
        if readers and all(_takes_cast(draft, producer, reader) for reader in readers):
            network.merge(producer, readers)
    for takes in (_takes_elementwise, _takes_into_reduction):
        _fuse_all(network, takes)
    draft.ops = list(network.ops.values())
    _drop_unread(draft)


class _Network:
    """The operations of a draft by name, in order, and who reads a value: kept up to date while operations merge."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.ops = {op.name: op for op in draft.ops}
        self.place = {op.name: i for i, op in enumerate(draft.ops)}
        self.kept = {o.value for o in draft.outputs}
        self._readers: dict[str, set[str]] = {}
        for op in draft.ops:
            self._note(op)

    def readers(self, value: str) -> list[LinalgOp]:
        """Operations that read the value, in order."""
        return [self.ops[name] for name in sorted(self._readers.get(value, ()), key=self.place.__getitem__)]

    def merge(self, producer: LinalgOp, consumers: list[LinalgOp]) -> None:
        """Replace each consumer by one operation that computes both; its name, loops and path stay."""
        for consumer in consumers:
            merged = _merged(producer, consumer)
            self._forget(consumer)
            self.ops[consumer.name] = merged
            self._note(merged)
        self._forget(producer)
        del self.ops[producer.name]
        del self.draft.values[producer.outputs[0].value]

    def _note(self, op: LinalgOp) -> None:
        for operand in op.inputs:
            self._readers.setdefault(operand.value, set()).add(op.name)

    def _forget(self, op: LinalgOp) -> None:
        for operand in op.inputs:
            self._readers[operand.value].discard(op.name)


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


def _fuse_all(network: _Network, takes: Callable[[LinalgOp, LinalgOp], bool]) -> None:
    """Merge producers into their only readers that `takes` accepts, as long as there are any.

    In rounds, in which what has grown waits for the next: a chain halves in each. Were it to grow by one operation at a
    time, every merge would walk all of it.
    """
    grown: set[str] | None = None
    while grown is None or grown:
        grown = set()
        for producer in list(network.ops.values()):
            reader = None if producer.name in grown else _only_reader(network, producer)
            if reader is not None and takes(producer, reader):
                network.merge(producer, [reader])
                grown.add(reader.name)


def _only_reader(network: _Network, producer: LinalgOp) -> LinalgOp | None:
    """The operation that the producer may become a part of."""
    if producer.kind != "generic" or producer.reduction is not None:
        return None
    value = producer.outputs[0].value
    readers = [] if value in network.kept else network.readers(value)
    if len(readers) != 1 or readers[0].kind != "generic" or len(_maps(readers[0], value)) != 1:
        return None
    return readers[0]


def _maps(op: LinalgOp, value: str) -> set[tuple[int, ...]]:
    return {o.dims for o in op.inputs if o.value == value}


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
        values.append(builder.replay(producer.body, inner, loop_of))
    body, used = builder.finish(builder.replay(consumer.body, values))
    operands = list(arguments)
    return replace(consumer, inputs=tuple(operands[i] for i in used), body=body)


def _drop_unread(draft: Draft) -> None:
    """Remove operations and arguments that no output depends on."""
    read = {o.value for o in draft.outputs}
    kept: list[LinalgOp] = []
    for op in reversed(draft.ops):
        if any(o.value in read for o in op.outputs):
            kept.append(op)
            read |= {o.value for o in op.inputs}
    draft.ops = kept[::-1]
    made = {o.value for op in draft.ops for o in op.outputs}
    draft.values = {name: v for name, v in draft.values.items() if name in read or name in made}
