"""LinalgGraph to JSON and back. Infinite numbers are the strings "inf" and "-inf": JSON has none."""

import math
from dataclasses import asdict
from typing import Any

from compiler.errors import VerificationError
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, Reduction, ScalarOp, Value

FORMAT = 1


def graph_to_json(graph: LinalgGraph) -> dict[str, Any]:
    """Plain dicts, lists, strings and finite numbers. What only a folded network has is left out: it is none yet."""
    return {
        "format": FORMAT,
        "name": graph.name,
        "values": [_without(asdict(v), "sources") for v in graph.values],
        "ops": [_op_to_json(op) for op in graph.ops],
        "outputs": [_without(asdict(o), "layer") for o in graph.outputs],
    }


def graph_from_json(data: dict[str, Any]) -> LinalgGraph:
    """The verified graph. Raises VerificationError for anything that `graph_to_json` did not write."""
    try:
        if data["format"] != FORMAT:
            raise VerificationError(f"graph.json has format {data['format']}; this version reads {FORMAT}")
        graph = LinalgGraph(
            data["name"],
            tuple(_value_from_json(v) for v in data["values"]),
            tuple(_op_from_json(op) for op in data["ops"]),
            tuple(_output_from_json(o) for o in data["outputs"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise VerificationError(f"graph.json is damaged: {type(error).__name__} {error}") from error
    graph.verify()
    return graph


def _without(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


def _value_from_json(data: dict[str, Any]) -> Value:
    valid = tuple(data.get("valid", ()))  # bundles of earlier versions have no padding
    return Value(data["name"], tuple(data["shape"]), data["dtype"], data["role"], data["source"], valid)


def _op_to_json(op: LinalgOp) -> dict[str, Any]:
    data = asdict(op)
    if op.body is not None:
        data["body"]["ops"] = [{**o, "const": _number_to_json(o["const"])} for o in data["body"]["ops"]]
    if op.reduction is not None:
        data["reduction"]["init"] = _number_to_json(op.reduction.init)
    return data


def _op_from_json(data: dict[str, Any]) -> LinalgOp:
    body = data["body"]
    reduction = data["reduction"]
    return LinalgOp(
        data["name"],
        data["kind"],
        tuple(data["loops"]),
        tuple(data["iterators"]),
        tuple(data["groups"]),
        tuple(_operand_from_json(o) for o in data["inputs"]),
        tuple(_operand_from_json(o) for o in data["outputs"]),
        None if body is None else _body_from_json(body),
        None if reduction is None else Reduction(reduction["combiner"], _number_from_json(reduction["init"])),
        data["axis"],
        tuple(data.get("valid", ())),
        tuple(data.get("masked", ())),
    )


def _body_from_json(data: dict[str, Any]) -> Body:
    ops = tuple(
        ScalarOp(o["name"], tuple(o["args"]), o["dtype"], _constant_from_json(o["const"]), o["predicate"])
        for o in data["ops"]
    )
    return Body(tuple(data["arg_dtypes"]), ops, data["result"])


def _operand_from_json(data: dict[str, Any]) -> Operand:
    return Operand(data["value"], tuple(data["dims"]))


def _output_from_json(data: dict[str, Any]) -> Output:
    return Output(data["name"], data["value"], tuple(data["permutation"]), tuple(data["shape"]))


def _number_to_json(value: float | int | None) -> float | int | str | None:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _number_from_json(value: float | int | str) -> float | int:
    return float(value) if isinstance(value, str) else value


def _constant_from_json(value: float | int | str | None) -> float | int | None:
    return None if value is None else _number_from_json(value)
