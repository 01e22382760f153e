"""LinalgGraph to JSON and back. Infinite numbers are the strings "inf" and "-inf": JSON has none."""

import math
from dataclasses import asdict, replace
from typing import Any

from compiler.errors import VerificationError
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, Reduction, Row, ScalarOp, Value
from compiler.graph.windows import Windows

FORMAT = 1


def graph_to_json(graph: LinalgGraph) -> dict[str, Any]:
    """Plain dicts, lists, strings and finite numbers. What only a folded network has is left out: it is none yet."""
    return {
        "format": FORMAT,
        "name": graph.name,
        "values": [_plain(asdict(v), "sources") for v in graph.values],
        "ops": [_op_to_json(op) for op in graph.ops],
        "outputs": [_plain(asdict(o), "layer") for o in graph.outputs],
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


def _plain(data: dict[str, Any], of_folded: str) -> dict[str, Any]:
    """Without what only a folded network has, and a row where there is none."""
    return {name: value for name, value in data.items() if name != of_folded and (name != "row" or value is not None)}


def _row_from_json(data: dict[str, Any]) -> Row | None:
    return Row(**data["row"]) if "row" in data else None


def _value_from_json(data: dict[str, Any]) -> Value:
    valid = tuple(data.get("valid", ()))  # bundles of earlier versions have no padding
    row = _row_from_json(data)
    return Value(data["name"], tuple(data["shape"]), data["dtype"], data["role"], data["source"], valid, row=row)


def _op_to_json(op: LinalgOp) -> dict[str, Any]:
    data = asdict(op)
    if op.body is not None:
        data["body"]["ops"] = [{**o, "const": _number_to_json(o["const"])} for o in data["body"]["ops"]]
    if op.reduction is not None:
        data["reduction"]["init"] = _number_to_json(op.reduction.init)
    if op.windows is None:
        del data["windows"]
    else:
        data["windows"]["fill"] = _number_to_json(op.windows.fill)
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
        _windows_from_json(data["windows"]) if "windows" in data else None,
    )


def _windows_from_json(data: dict[str, Any]) -> Windows:
    windows = Windows(**data)
    return replace(windows, fill=_number_from_json(windows.fill))


def _body_from_json(data: dict[str, Any]) -> Body:
    ops = tuple(
        ScalarOp(o["name"], tuple(o["args"]), o["dtype"], _constant_from_json(o["const"]), o["predicate"])
        for o in data["ops"]
    )
    return Body(tuple(data["arg_dtypes"]), ops, data["result"])


def _operand_from_json(data: dict[str, Any]) -> Operand:
    return Operand(data["value"], tuple(data["dims"]))


def _output_from_json(data: dict[str, Any]) -> Output:
    shape, row = tuple(data["shape"]), _row_from_json(data)
    return Output(data["name"], data["value"], tuple(data["permutation"]), shape, row=row)


def _number_to_json(value: float | int | None) -> float | int | str | None:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _number_from_json(value: float | int | str) -> float | int:
    return float(value) if isinstance(value, str) else value


def _constant_from_json(value: float | int | str | None) -> float | int | None:
    return None if value is None else _number_from_json(value)
