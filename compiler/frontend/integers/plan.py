"""What of a network is computed in integers: its products with weights, what they read, and sums of pooling.

A product of an activation with a weight is one of integers, and its activation int8, with all that shares its scale
(`alike`). What is made of integers by sums of multiples stays so as long as it only goes into a sum, as the pictures in
front of an average pooling do.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from compiler.frontend.integers.affine import Affine, affine_of, constant
from compiler.frontend.integers.alike import Alike, chooses, is_plain, moves
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Reduction, Value
from compiler.options import Ports


@dataclass(frozen=True)
class Plan:
    """The network in which what is summed or chosen is made by operations of its own, and what becomes integers:
    `products` and `sums` name operations, `alike` has the sets of values of which `int8` names the roots.
    """

    graph: LinalgGraph
    alike: Alike
    int8: frozenset[str]
    products: frozenset[str]
    sums: frozenset[str]

    def is_int8(self, value: str) -> bool:
        return self.alike.root(value) in self.int8


def weight_of(graph: LinalgGraph, op: LinalgOp) -> int | None:
    """Which input of a product of an activation with a weight is the weight; None where the operation is none."""
    is_product = op.body is not None and op.body.is_product and op.body.dtype_of(op.body.result) == "f32"
    if not is_product or op.reduction is None or op.reduction.combiner != "add" or op.reduction.init:
        return None
    roles = [graph.value[o.value].role for o in op.inputs]
    if len(roles) != 2 or roles.count("param") != 1 or not all(o.dims for o in op.inputs):
        return None
    return roles.index("param")


def planned(graph: LinalgGraph, ports: Ports) -> Plan:
    """What becomes integers; with `ports` of integers, results that are made of such too."""
    graph = _apart(_begun_at_zero(graph))
    plan = _products(graph)
    for out in graph.outputs if ports == "i8" else ():
        root = plan.alike.root(out.value)
        alike = [v.name for v in graph.values if plan.alike.root(v.name) == root]
        if all(_of_integers(plan, op) for op in _makers(plan, alike)):
            plan = replace(plan, int8=plan.int8 | {root})
    for op in graph.ops:
        if op.kind == "generic" and _sums(op) and _only_summed(plan, op.inputs[0].value):
            root = plan.alike.root(op.inputs[0].value)
            plan = replace(plan, int8=plan.int8 | {root}, sums=plan.sums | {op.name})
    return plan


def _products(graph: LinalgGraph) -> Plan:
    alike, read = Alike.of(graph), dict[str, str]()
    for op in graph.ops:
        if (weight := weight_of(graph, op)) is not None:
            read[op.name] = op.inputs[1 - weight].value
    return Plan(graph, alike, frozenset(map(alike.root, read.values())), frozenset(read), frozenset())


def _begun_at_zero(graph: LinalgGraph) -> LinalgGraph:
    """The network in which an operation of its own adds the number that sums of products begin with, as the bias of a
    single channel is one.
    """
    ops, values = list[LinalgOp](), {v.name: v for v in graph.values}
    for op in graph.ops:
        begins = 0.0 if op.reduction is None else op.reduction.init
        begun = replace(op, reduction=Reduction("add", 0.0))
        if not begins or op.reduction != Reduction("add", begins) or weight_of(graph, begun) is None:
            ops.append(op)
            continue
        (out,), sums, bias = op.outputs, f"{op.name}.sums", BodyBuilder()
        values[sums] = Value(sums, values[out.value].shape, "f32")
        ops.append(replace(begun, outputs=(Operand(sums, out.dims),)))
        added = bias.emit("arith.addf", (bias.arg("f32"), bias.constant(begins, "f32")), "f32")
        body, _ = bias.finish(added)
        ops.append(_over_results(begun, f"{op.name}.bias", sums, out, body))
    return graph if len(ops) == len(graph.ops) else replace(graph, values=tuple(values.values()), ops=tuple(ops))


def _over_results(op: LinalgOp, name: str, read: str, out: Operand, body: Body) -> LinalgOp:
    """An operation `name` of each element that `op` makes, from `read` to what that made before, `out`."""
    loops, walked = tuple(op.loops[d] for d in out.dims), tuple(range(len(out.dims)))
    group = {old: new for new, old in enumerate(dict.fromkeys(op.groups[d] for d in out.dims))}
    groups = tuple(group[op.groups[d]] for d in out.dims)
    made = Operand(out.value, walked)
    return LinalgOp(name, "generic", loops, ("parallel",) * len(loops), groups, (Operand(read, walked),), (made,), body)


def _apart(graph: LinalgGraph) -> LinalgGraph:
    """The network in which a sum or maximum of sums of multiples of integers reads these from an operation that makes
    them: as int8, that is, where it would add up numbers of f32.
    """
    plan, ops, values = _products(graph), list[LinalgOp](), {v.name: v for v in graph.values}
    for op in graph.ops:
        if op.name in plan.products or is_plain(op) or not _is_pooling(op) or not _of_integers(plan, op):
            ops.append(op)
            continue
        terms, walked = f"{op.name}.terms", tuple(range(len(op.loops)))
        values[terms] = Value(terms, op.loops, "f32")
        apart = replace(op, name=terms, iterators=("parallel",) * len(walked), reduction=None)
        ops.append(replace(apart, outputs=(Operand(terms, walked),)))
        ops.append(replace(op, inputs=(Operand(terms, walked),), body=Body(("f32",), (), 0)))
    return graph if len(ops) == len(graph.ops) else replace(graph, values=tuple(values.values()), ops=tuple(ops))


def _is_pooling(op: LinalgOp) -> bool:
    """Whether it adds up what its body makes, or chooses of it, from nothing on."""
    if op.reduction is None:
        return False
    return math.isinf(op.reduction.init) or (op.reduction.combiner == "add" and not op.reduction.init)


def _sums(op: LinalgOp) -> bool:
    """Whether it adds up what it reads, as it is."""
    return _is_pooling(op) and not chooses(op) and is_plain(op)


def _only_summed(plan: Plan, value: str) -> bool:
    """Whether sums alone read what shares its scale with the value, and all of it is made of integers; or it is int8
    anyway.
    """
    if plan.is_int8(value):
        return True
    root = plan.alike.root(value)
    alike = [v.name for v in plan.graph.values if plan.alike.root(v.name) == root]
    if any(out.value in alike for out in plan.graph.outputs):
        return False
    readers = [op for name in alike for op, _ in plan.graph.consumers[name] if not moves(op)]
    return all(_sums(op) for op in readers) and all(_of_integers(plan, op) for op in _makers(plan, alike))


def _makers(plan: Plan, alike: Iterable[str]) -> Iterator[LinalgOp | None]:
    """The operations that make what others only move; None for what the network is given."""
    for name in alike:
        maker = plan.graph.producer.get(name)
        if maker is None or not moves(maker[0]):
            yield None if maker is None else maker[0]


def _of_integers(plan: Plan, op: LinalgOp | None) -> bool:
    """Whether the operation makes sums of multiples of integers."""
    if op is None or op.body is None:
        return False
    if op.name in plan.products or op.name in plan.sums:
        return True
    graph, given = plan.graph, dict[int, Affine]()
    for number, operand in enumerate(op.inputs):
        if graph.value[operand.value].role in ("param", "scalar"):
            given[number] = constant(np.ones(()))
        elif plan.is_int8(operand.value) or _adds(plan, operand.value):
            given[number] = Affine({number: np.ones(())}, np.zeros(()))
        else:
            return False
    made = affine_of(op.body, given)
    return made is not None and bool(made.terms)


def _adds(plan: Plan, value: str) -> bool:
    maker = plan.graph.producer.get(value)
    return maker is not None and maker[0].name in plan.products | plan.sums
