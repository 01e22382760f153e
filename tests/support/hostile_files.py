"""Files that want to do harm: 120 of them, each a name and a function that makes its bytes.

`millrace` must end each within its limits, and most of them by a look. What a file is after is in its name; the tables
are by format. Nothing here is larger than 16 MiB.
"""

import io
import json
import pickle
import random
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx_models
import zip_bombs
from onnx import ModelProto, NodeProto, SparseTensorProto, TensorProto, helper, numpy_helper
from onnx_models import followed, integers, single

Make = Callable[[], bytes]
SMALL = {"x": (1, 4)}
RESULT = {"y": (1, 4)}


def hostile_files() -> dict[str, Make]:
    """What makes each file, by the file's name; the name's end is its format."""
    tables = {"onnx": {**_ONNX, **_DAMAGED}, "mlir": _MLIR, "pt2": _PT2, "json": _CONFIG}
    return {f"{name}.{form}": make for form, table in tables.items() for name, make in table.items()}


# ONNX.


def _file(made: ModelProto) -> bytes:
    return made.SerializeToString()


def _nodes(count: int, node: Callable[[int], NodeProto], last: str, **stored: Any) -> bytes:
    return _file(onnx_models.model([node(i) for i in range(count)], SMALL, {last: (1, 4)}, stored))


def _relu(i: int) -> NodeProto:
    return helper.make_node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}"])


def _inputs(count: int, shape: Sequence[int] = (1,)) -> bytes:
    made = onnx_models.mlp(1, (3, 5, 7))
    made.graph.input.extend(helper.make_tensor_value_info(f"i{n}", TensorProto.FLOAT, shape) for n in range(count))
    return _file(made)


def _same_names(count: int) -> bytes:
    """Names that are alike once they are cleaned: each new one would try all numbers again."""
    return _nodes(count, lambda i: helper.make_node("Relu", [_odd(i)], [_odd(i + 1)], name=_odd(i)), _odd(count))


def _odd(i: int) -> str:
    return "x" if i == 0 else "é" * (i % 50 + 1) + "".join(chr(0x4E00 + int(d)) for d in str(i))


def _tensors(count: int, nodes: bool = False) -> bytes:
    made = onnx_models.mlp(1, (3, 5, 7))
    for n in range(count):
        made.graph.initializer.append(numpy_helper.from_array(np.zeros(2, np.float32), f"t{n}"))
        if nodes:
            made.graph.node.append(helper.make_node("Relu", [f"t{n}"], [f"r{n}"]))
    return _file(made)


def _attribute(kind: str, **values: Any) -> bytes:
    return _file(single(kind, SMALL, RESULT, **values))


def _changed(change: Callable[[ModelProto], Any], made: ModelProto | None = None) -> bytes:
    made = made or onnx_models.mlp(1, (3, 5, 7))
    change(made)
    return _file(made)


def _dims(*dims: int) -> bytes:
    def change(made: ModelProto) -> None:
        del made.graph.initializer[0].dims[:]
        made.graph.initializer[0].dims.extend(dims)

    return _changed(change)


def _nested(depth: int) -> bytes:
    """A graph in an attribute of a node in a graph, and so on."""
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    for _ in range(depth):
        graph = helper.make_graph([helper.make_node("If", ["c"], ["y"], then_branch=graph)], "g", [], [])
    return _changed(lambda made: made.graph.node.add().attribute.add().g.CopyFrom(graph))


def _function(made: ModelProto) -> None:
    """A function that calls itself."""
    call = helper.make_node("F", ["x"], ["y"], domain="own")
    opset = [helper.make_opsetid("", onnx_models.OPSET)]
    made.functions.append(helper.make_function("own", "F", ["x"], ["y"], [call], opset))


def _sparse(made: ModelProto) -> None:
    sparse = SparseTensorProto(dims=[1 << 30, 1 << 30])
    sparse.values.CopyFrom(numpy_helper.from_array(np.zeros(1, np.float32), "s"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.zeros(1, np.int64), "i"))
    made.graph.sparse_initializer.append(sparse)


def _properties(made: ModelProto) -> None:
    for _ in range(1_000_000):
        made.metadata_props.add()


def _type(depth: int) -> bytes:
    def change(made: ModelProto) -> None:
        kind = made.graph.input[0].type
        kind.Clear()
        for _ in range(depth):
            kind = kind.sequence_type.elem_type
        kind.tensor_type.elem_type = TensorProto.FLOAT

    return _changed(change)


def _growing(kind: str, count: int, **attributes: Any) -> bytes:
    """Each node makes its value twice as large."""
    doubled = [helper.make_node(kind, [f"v{i}"] * 2, [f"v{i + 1}"], **attributes) for i in range(count)]
    last = helper.make_node("ReduceSum", [f"v{count}"], ["y"], keepdims=0)
    return _file(onnx_models.model([*doubled, last], {"v0": (1, 4)}, {"y": ()}))


def _doubling_shape(count: int) -> bytes:
    nodes = [helper.make_node("Concat", [f"s{i}"] * 2, [f"s{i + 1}"], axis=0) for i in range(count)]
    nodes.append(helper.make_node("Reshape", ["x", f"s{count}"], ["y"]))
    return _file(onnx_models.model(nodes, SMALL, RESULT, {"s0": integers(1)}))


def _expanded(*shape: int) -> bytes:
    steps = ("Expand", ["x", "s"], ["a"], {}), ("ReduceSum", ["a"], ["y"], {"keepdims": 0})
    return _file(followed(*steps, inputs={"x": (1, 1)}, outputs={"y": ()}, s=integers(*shape)))


def _products(layers: int, width: int) -> bytes:
    """The square of an expanded input, again and again: no weights, and for ever."""
    nodes = [helper.make_node("Expand", ["x", "s"], ["v0"])]
    nodes += [helper.make_node("MatMul", [f"v{i}"] * 2, [f"v{i + 1}"]) for i in range(layers)]
    nodes.append(helper.make_node("ReduceSum", [f"v{layers}"], ["y"], keepdims=0))
    return _file(onnx_models.model(nodes, {"x": (1, 1)}, {"y": ()}, {"s": integers(width, width)}))


def _einsum(equation: str, rank: int, extent: int) -> bytes:
    return _file(single("Einsum", {"x": (extent,) * rank}, {"y": ()}, equation=equation))


def _reshapes(count: int) -> bytes:
    """A dimension with many factors, regrouped again and again."""
    groups = [(5040, 5040), (1440, 17640), (17640, 1440), (2520, 10080), (25401600,), (840, 30240), (60, 423360)]
    stored = {f"s{i}": integers(*groups[i % len(groups)]) for i in range(count)}
    nodes = [helper.make_node("Reshape", [f"v{i}", f"s{i}"], [f"v{i + 1}"]) for i in range(count)]
    nodes.append(helper.make_node("Relu", [f"v{count}"], ["y"]))
    return _file(onnx_models.model(nodes, {"v0": (25401600,)}, {"y": groups[(count - 1) % len(groups)]}, stored))


def _wide_concat(count: int) -> bytes:
    node = helper.make_node("Concat", ["x"] * count, ["y"], axis=0)
    return _file(onnx_models.model([node], SMALL, {"y": (count, 4)}))


def _splits(count: int) -> bytes:
    split = helper.make_node("Split", ["x"], [f"p{i}" for i in range(count)], axis=0, num_outputs=count)
    join = helper.make_node("Concat", [f"p{i}" for i in range(count)], ["y"], axis=0)
    return _file(onnx_models.model([split, join], {"x": (count, 4)}, {"y": (count, 4)}))


def _pairs(count: int) -> bytes:
    """Everything reads everything before it."""
    nodes = [helper.make_node("Sum", ["x", *(f"v{j}" for j in range(1, i + 1))], [f"v{i + 1}"]) for i in range(count)]
    return _file(onnx_models.model(nodes, SMALL, {f"v{count}": (1, 4)}))


def _texts(length: int) -> bytes:
    pattern = "(a+)+" * (length // 5) + "$"
    steps = (
        ("Cast", ["x"], ["t"], {"to": TensorProto.STRING}),
        ("RegexFullMatch", ["t"], ["b"], {"pattern": pattern}),
        ("Cast", ["b"], ["y"], {"to": TensorProto.FLOAT}),
    )
    return _file(followed(*steps, inputs=SMALL, outputs=RESULT))


def _strings() -> bytes:
    steps = ("Cast", ["x"], ["t"], {"to": TensorProto.STRING}), ("Cast", ["t"], ["y"], {"to": TensorProto.FLOAT})
    return _file(followed(*steps, inputs=SMALL, outputs=RESULT))


_ONNX: dict[str, Make] = {
    "20000-inputs": lambda: _inputs(20_000),
    "8000-inputs": lambda: _inputs(8000),
    "1000-inputs": lambda: _inputs(1000),
    "100000-adds": lambda: _nodes(100_000, _relu, "v100000"),
    "200000-adds": lambda: _nodes(
        200_000, lambda i: helper.make_node("Add", [f"v{i}" if i else "x", "x"], [f"v{i + 1}"]), "v200000"
    ),
    "16000-nodes": lambda: _nodes(16_000, _relu, "v16000"),
    "4000-nodes-of-one-name": lambda: _same_names(4000),
    "4000-sums-of-all-before": lambda: _pairs(1500),
    "100000-tensors": lambda: _tensors(100_000),
    "8000-tensors": lambda: _tensors(8000, nodes=True),
    "7000-unused-tensors": lambda: _tensors(7000),
    "concat-of-100000": lambda: _wide_concat(100_000),
    "concat-of-2000": lambda: _wide_concat(2000),
    "split-in-4000": lambda: _splits(4000),
    "nested-graphs-20": lambda: _nested(20),
    "nested-graphs-30": lambda: _nested(30),
    "function-of-itself": lambda: _changed(_function),
    "sparse": lambda: _changed(_sparse),
    "training": lambda: _changed(lambda made: made.training_info.add()),
    "huge-dims": lambda: _dims(1 << 40, 1 << 40),
    "overflowing-dims": lambda: _dims(1 << 32, 1 << 32),
    "negative-dims": lambda: _dims(-1, -35),
    "200-dims": lambda: _dims(*[1] * 200),
    "million-dims": lambda: _dims(*[1] * 1_000_000),
    "lying-dims": lambda: _file(onnx_models.lying_about_size()),
    "zero-dims": lambda: _dims(0, 3),
    "sequence-of-sequences": lambda: _type(40),
    "expanded": lambda: _expanded(1 << 20, 1 << 20),
    "expanded-by-less": lambda: _expanded(1 << 14, 1 << 14),
    "expanded-int-max": lambda: _expanded((1 << 63) - 1, 2),
    "growing-concat": lambda: _growing("Concat", 60, axis=0),
    "growing-concat-inside": lambda: _growing("Concat", 25, axis=1),
    "doubling-shape": lambda: _doubling_shape(40),
    "squares": lambda: _products(50, 16_000),
    "squares-of-less": lambda: _products(4000, 500),
    "einsum-of-26": lambda: _einsum("abcdefghijklmnopqrstuvwxyz->", 26, 2),
    "einsum-apart": lambda: _file(
        single("Einsum", {"x": (4096, 4096), "z": (4096, 4096)}, {"y": ()}, equation="ab,cd->")
    ),
    "einsum-equation": lambda: _einsum("." * 1_000_000, 1, 2),
    "reshapes": lambda: _reshapes(3000),
    "cycle": lambda: _file(followed(("Add", ["x", "y"], ["y"], {}), outputs=RESULT, inputs=SMALL)),
    "long-cycle": lambda: _nodes(3000, lambda i: helper.make_node("Relu", [f"v{(i + 1) % 3000}"], [f"v{i}"]), "v5"),
    "same-output-twice": lambda: _file(
        followed(("Relu", ["x"], ["y"], {}), ("Tanh", ["x"], ["y"], {}), inputs=SMALL, outputs=RESULT)
    ),
    "same-tensor-twice": lambda: _changed(lambda made: made.graph.initializer.append(made.graph.initializer[0])),
    "nul-name": lambda: _changed(lambda made: setattr(made.graph.node[0], "name", "a\0b")),
    "path-name": lambda: _changed(lambda made: setattr(made.graph.node[0], "name", "../../etc/passwd\n'; drop")),
    "long-name": lambda: _changed(lambda made: setattr(made.graph.node[0], "name", "n" * 10_000_000)),
    "long-operator": lambda: _changed(lambda made: setattr(made.graph.node[0], "op_type", "Conv" * 1_000_000)),
    "long-documentation": lambda: _changed(lambda made: setattr(made, "doc_string", "d" * 10_000_000)),
    "surrogate-name": lambda: _file(onnx_models.mlp(1, (3, 5, 7))).replace(b"/act/Relu", b"/a\xed\xa0\x80Relu"),
    "external-passwd": lambda: _file(onnx_models.external("/etc/passwd")),
    "external-above": lambda: _file(onnx_models.external("../../../../secret")),
    "external-descriptor": lambda: _file(onnx_models.external("/proc/self/fd/0")),
    "nan": lambda: _file(onnx_models.with_weight(float("nan"))),
    "infinite-result": lambda: _file(single("Log", SMALL, RESULT)),
    "regular-expression": lambda: _texts(100),
    "strings": _strings,
    "loop": lambda: _attribute("Loop"),
    "long-attribute": lambda: _attribute("Relu", note="s" * 5_000_000),
    "million-numbers": lambda: _attribute("Relu", numbers=list(range(1_000_000))),
    "many-attributes": lambda: _attribute("Relu", **{f"a{i}": i for i in range(200_000)}),
    "constant-without-value": lambda: _file(
        onnx_models.model(
            [helper.make_node("Constant", [], ["c"]), helper.make_node("Relu", ["x"], ["y"])], SMALL, RESULT
        )
    ),
    "missing-input": lambda: _file(onnx_models.model([helper.make_node("MatMul", [], ["y"])], SMALL, RESULT)),
    "unknown-operator": lambda: _file(single("Frobnicate", SMALL, RESULT)),
    "future-opset": lambda: _file(single("Relu", SMALL, RESULT, opset=9999)),
    "no-opset": lambda: _changed(lambda made: made.ClearField("opset_import")),
    "int32-floats": lambda: _changed(lambda made: setattr(made.graph.initializer[0], "data_type", 6)),
    "kind-99": lambda: _changed(lambda made: setattr(made.graph.initializer[0], "data_type", 99)),
    "million-properties": lambda: _changed(_properties),
    "hardly-a-network": lambda: _file(onnx_models.model([], SMALL, RESULT)),
}


def _varint(value: int) -> bytes:
    digits = [value >> shift & 0x7F for shift in range(0, max(1, value.bit_length()), 7)]
    return bytes([*(d | 0x80 for d in digits[:-1]), digits[-1]])


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _deep_message(depth: int) -> bytes:
    """A graph in an attribute in a node in a graph, by hand: no library writes it."""
    content = b""
    for _ in range(depth):
        content = _message(1, _message(5, _message(6, content)))
    return _message(7, content)


def _flipped(seed: int) -> bytes:
    content = bytearray(_file(onnx_models.vit_block(5, 12, 3, 24)))
    draw = random.Random(seed)
    for _ in range(20):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


_DAMAGED: dict[str, Make] = {
    "random": lambda: random.Random(0).randbytes(100_000),
    "zeros": lambda: bytes(5_000_000),
    "ones": lambda: b"\xff" * 1_000_000,
    "varints": lambda: bytes((1 << 3, 1)) * 2_000_000,
    "cut": lambda: _file(onnx_models.mlp())[:5000],
    "length-of-2^60": lambda: _varint(7 << 3 | 2) + _varint(1 << 60) + b"x" * 1000,
    "deep-message": lambda: _deep_message(2000),
    "two-graphs": lambda: _file(onnx_models.mlp(1, (3, 5, 7))) * 2,
    "groups": lambda: bytes([7 << 3 | 3]) * 1_000_000,
    **{f"flipped-{seed}": (lambda seed=seed: _flipped(seed)) for seed in range(6)},
}


# Linalg text.


def _main(body: str = "return %x : tensor<4xf32>", before: str = "", arguments: str = "%x: tensor<4xf32>") -> bytes:
    return f"{before}\nfunc.func @main({arguments}) -> tensor<4xf32> {{\n{body}\n}}\n".encode()


def _aliases(count: int, first: str, each: str, body: str = "") -> bytes:
    """`each` names the alias before it, twice."""
    lines = [f"{first[0]}a0 = {first[1:]}"]
    lines += [f"{first[0]}a{i + 1} = {each.format(before=f'{first[0]}a{i}')}" for i in range(count)]
    use = body or "return %x : tensor<4xf32>"
    return _main(use.replace("LAST", f"{first[0]}a{count}"), "\n".join(lines))


def _chain(count: int, operation: str = "linalg.generic") -> bytes:
    """So many operations, each on the result of the one before."""
    lines = ["%v0 = arith.addf %x, %x : tensor<4xf32>"]
    lines += [f"%v{i + 1} = arith.addf %v{i}, %v{i} : tensor<4xf32>" for i in range(count)]
    return _main("\n".join([*lines, f"return %v{count} : tensor<4xf32>"]))


def _scalars(count: int) -> bytes:
    """One loop nest whose body is a chain: folded or written out, it would double at each step."""
    steps = ["%s0 = arith.addf %a, %a : f32", *(f"%s{i + 1} = arith.addf %s{i}, %s{i} : f32" for i in range(count))]
    body = f"""%e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel"]}}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {{
  ^bb0(%a: f32, %b: f32):
{chr(10).join(steps)}
    linalg.yield %s{count} : f32
  }} -> tensor<4xf32>
  return %r : tensor<4xf32>"""
    return _main(body, "#m = affine_map<(d0) -> (d0)>")


def _matmuls(count: int, size: int) -> bytes:
    kind = f"tensor<{size}x{size}xf32>"
    lines = ["%c = arith.constant 0.0 : f32", f"%v0 = tensor.empty() : {kind}"]
    before = "%x"
    for i in range(count):
        lines += [
            f"%f{i} = linalg.fill ins(%c : f32) outs(%v0 : {kind}) -> {kind}",
            f"%m{i} = linalg.matmul ins({before}, {before} : {kind}, {kind}) outs(%f{i} : {kind}) -> {kind}",
        ]
        before = f"%m{i}"
    return f"func.func @main(%x: {kind}) -> {kind} {{\n{chr(10).join(lines)}\nreturn {before} : {kind}\n}}".encode()


def _wide_integer(bits: int, count: int) -> bytes:
    lines = [f"%i0 = arith.constant 12345678901234567890 : i{bits}"]
    lines += [f"%i{i + 1} = arith.muli %i{i}, %i{i} : i{bits}" for i in range(count)]
    return _main("\n".join([*lines, "return %x : tensor<4xf32>"]))


def _arguments(count: int) -> bytes:
    return _main(arguments=", ".join(f"%{'x' if i == 0 else f'a{i}'}: tensor<4xf32>" for i in range(count)))


_MLIR: dict[str, Make] = {
    "alias-types": lambda: _aliases(30, "!f32", "tuple<{before}, {before}>", "%0 = \"x.y\"() : () -> LAST\nreturn"),
    "alias-attributes": lambda: _aliases(40, "#1", "[{before}, {before}]", "%0 = arith.constant {a = LAST} 1 : i32"),
    "alias-dictionaries": lambda: _aliases(40, "#1", "{{a = {before}, b = {before}}}"),
    "alias-locations": lambda: _aliases(40, "#loc(unknown)", "loc(fused[{before}, {before}])"),
    "alias-functions": lambda: _aliases(40, "!i32", "({before}, {before}) -> {before}"),
    "alias-on-one-line": lambda: _aliases(40, "#1", "[{before}, {before}]").replace(b"\n#", b" #"),
    "alias-with-breaks": lambda: _aliases(40, "#1", "[\n\"x\"\n, {before}\n,\n{before}\n]"),
    "alias-chain": lambda: _aliases(60_000, "#1", "[{before}]"),
    "alias-flood": lambda: _main(before="\n".join(f"#a{i} = {i}" for i in range(200_000))),
    "alias-of-itself": lambda: _main(before="#a = [#a, #a]"),
    "alias-cycle": lambda: _main(before="#a = [#b]\n#b = [#a]"),
    "alias-of-much-text": lambda: _main(
        "\n".join(f"%c{i} = arith.constant {{n = #a}} {i} : i32" for i in range(20_000)), f'#a = "{"x" * 10_000}"'
    ),
    "100000-arguments": lambda: _arguments(100_000),
    "5000-arguments": lambda: _arguments(5000),
    "4000-arguments": lambda: _arguments(4000),
    "100000-block-arguments": lambda: _scalars(10).replace(
        b"%b: f32", b", ".join(b"%%b%d: f32" % i for i in range(100_000))
    ),
    "200000-adds": lambda: _chain(200_000),
    "20000-adds": lambda: _chain(20_000),
    "60000-scalars": lambda: _scalars(60_000),
    "900-scalars": lambda: _scalars(900),
    "million-results": lambda: _main(
        f"%r:1000000 = \"x.y\"() : () -> ({', '.join(['f32'] * 1000)})\nreturn %x : tensor<4xf32>"
    ),
    "parentheses": lambda: _main(before=f"#a = {'[' * 1_000_000}{']' * 1_000_000}"),
    "parentheses-open": lambda: b"func.func @main" + b"(" * 5_000_000,
    "angle-brackets": lambda: _main(before=f"!a = {'tuple<' * 200_000}{'>' * 200_000}"),
    "brackets-in-pairs": lambda: _main(before=f"#a = [{'[],' * 2_000_000}[]]"),
    "nested-modules": lambda: b"module {" * 100_000 + _main() + b"}" * 100_000,
    "nested-loops": lambda: _main("scf.execute_region {" * 20_000 + "}" * 20_000),
    "long-map": lambda: _main(before=f"#m = affine_map<(d0) -> ({' + '.join(['d0'] * 500_000)})>"),
    "map-of-many-results": lambda: _main(before=f"#m = affine_map<(d0) -> ({', '.join(['d0'] * 500_000)})>"),
    "map-of-quotients": lambda: _main(before=f"#m = affine_map<(d0) -> ({'d0' + ' floordiv 3 mod 7' * 5000})>"),
    "wide-integers": lambda: _wide_integer(16_000_000, 40),
    "wide-tensor-integers": lambda: _main(arguments="%x: tensor<4xf32>, %y: tensor<4xi8388607>"),
    "long-number": lambda: _main(f"%c = arith.constant {'9' * 3_000_000} : i64\nreturn %x : tensor<4xf32>"),
    "long-fraction": lambda: _main(f"%c = arith.constant 0.{'3' * 3_000_000} : f32\nreturn %x : tensor<4xf32>"),
    "splat": lambda: _main("%c = arith.constant dense<1.0> : tensor<1000000x1000000xf32>\nreturn %x : tensor<4xf32>"),
    "splat-within-bounds": lambda: _main(
        "%c = arith.constant dense<1.0> : tensor<16384x16384xf32>\n%d = arith.addf %c, %c : tensor<16384x16384xf32>\n"
        "return %x : tensor<4xf32>"
    ),
    "vectors": lambda: _main(
        "%c = arith.constant dense<1.0> : vector<200000000xf32>\n%d = math.exp %c : vector<200000000xf32>\n"
        "return %x : tensor<4xf32>"
    ),
    "elements-of-2^200": lambda: _main(arguments=f"%x: tensor<4xf32>, %y: tensor<{'1048576x' * 10}f32>"),
    "rank-100000": lambda: _main(arguments=f"%x: tensor<4xf32>, %y: tensor<{'1x' * 100_000}f32>"),
    "500-arguments-of-1-GiB": lambda: _main(
        arguments="%x: tensor<4xf32>, " + ", ".join(f"%y{i}: tensor<16384x16384xf32>" for i in range(500))
    ),
    "matmul-for-ever": lambda: _matmuls(1, 16_384),
    "matmuls-for-ever": lambda: _matmuls(300, 1024),
    "functions": lambda: b"".join(b"func.func private @f%d(i32)\n" % i for i in range(200_000)) + _main(),
    "symbols-in-a-cycle": lambda: b"func.func @a() { call @b() : () -> () return }\n"
    b"func.func @b() { call @a() : () -> () return }\n" + _main(),
    "call-of-system": lambda: b"func.func private @system(i32)\n" + _main(
        "%c = arith.constant 0 : i32\nfunc.call @system(%c) : (i32) -> ()\nreturn %x : tensor<4xf32>"
    ),
    "assembly": lambda: _main('llvm.inline_asm has_side_effects "int3", "" : () -> ()\nreturn %x : tensor<4xf32>'),
    "long-name": lambda: _main(f"%{'n' * 5_000_000} = arith.constant 1 : i32\nreturn %x : tensor<4xf32>"),
    "long-string": lambda: _main(before=f'#a = "{"s" * 10_000_000}"'),
    "escapes-not-closed": lambda: _main(before='#a = "' + '\\"' * 5_000_000),
    "quotes": lambda: _main(before='"' * 5_000_000),
    "blanks": lambda: _main(before=" " * 8_000_000),
    "lines": lambda: _main(before="\n" * 8_000_000),
    "hashes": lambda: _main(before="#" * 8_000_000),
    "comments": lambda: _main(before="//\n" * 4_000_000),
    "bytecode": lambda: b"ML\xefR" + bytes(1000),
    "nul": lambda: _main(before="#a = 1\0"),
    "surrogate": lambda: _main() + b"// \xed\xa0\x80",
    "random-text": lambda: "".join(random.Random(0).choices("#!%<>(){}[]=\n ax0123", k=2_000_000)).encode() + _main(),
    "no-main": lambda: _main().replace(b"@main", b"@other"),
    "empty": lambda: b"",
}  # fmt: skip


# Archives of torch.export.


_PROGRAM, _SAMPLES = "net/models/model.json", "net/data/sample_inputs/model.pt"


def _zip(**members: bytes | str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def _bomb(make: Callable[[Path], Path]) -> bytes:
    with TemporaryDirectory() as folder:
        return make(Path(folder) / "a.zip").read_bytes()


class _System:
    def __reduce__(self) -> Any:
        import os

        return os.system, ("touch /tmp/harm",)


def _many_members(count: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for i in range(count):
            archive.writestr(str(i), b"")
    return made.getvalue()


def _directory_of_4_gb() -> bytes:
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0, 0)
    return bytes(1000) + end


def _quine(depth: int) -> bytes:
    """An archive in an archive, and so on."""
    content = b"the end"
    for _ in range(depth):
        content = _zip(**{_PROGRAM: "{}", _SAMPLES: content})
    return content


_PT2: dict[str, Make] = {
    "random": lambda: random.Random(0).randbytes(100_000),
    "bomb": lambda: _bomb(lambda path: zip_bombs.bomb(path, 64)),
    "lying": lambda: _bomb(lambda path: zip_bombs.lying(path, 100)),
    "overlapping": lambda: _bomb(zip_bombs.overlapping),
    "absolute": lambda: _bomb(lambda path: zip_bombs.named(path, "/etc/passwd")),
    "above": lambda: _bomb(lambda path: zip_bombs.named(path, "../../up")),
    "30000-members": lambda: _many_members(30_000),
    "directory-of-4-GB": _directory_of_4_gb,
    "archives-in-archives": lambda: _quine(50),
    "cut": lambda: _zip(**{_PROGRAM: "{}"})[:-30],
    "pickle-of-system": lambda: _zip(**{_PROGRAM: "{}", _SAMPLES: pickle.dumps(_System(), protocol=2)}),
    "pickle-of-system-4": lambda: _zip(**{_PROGRAM: "{}", _SAMPLES: pickle.dumps(_System(), protocol=4)}),
    "pickle-flood": lambda: _zip(**{_PROGRAM: "{}", "net/a.pkl": b"(" * 5_000_000 + b"."}),
    "deep-program": lambda: _zip(**{_PROGRAM: "[" * 1_000_000 + "]" * 1_000_000}),
    "program-of-100000": lambda: _zip(**{_PROGRAM: json.dumps([{"target": str(i)} for i in range(100_000)])}),
    "empty-program": lambda: _zip(**{_PROGRAM: "{}"}),
    "no-program": lambda: _zip(readme="no network"),
}


# config.json


_CONFIG: dict[str, Make] = {
    "deep": lambda: b"[" * 500_000 + b"]" * 500_000,
    "deep-objects": lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "digits": lambda: b'{"model_type": "gpt2", "n_embd": ' + b"9" * 900_000 + b"}",
    "nul": lambda: b'{"model_type": "gpt2\\u0000"}',
    "surrogate": lambda: b'{"model_type": "\\ud800"}',
    "huge": lambda: json.dumps({"model_type": "gpt2", "n_embd": 1 << 40, "n_head": 4, "n_layer": 2}).encode(),
    "not-json": lambda: random.Random(0).randbytes(10_000),
    "keys": lambda: json.dumps({str(i): i for i in range(60_000)}).encode(),
}
