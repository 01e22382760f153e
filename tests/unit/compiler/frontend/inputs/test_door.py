"""What is said of a network at the door: in a second, and without the onnx package."""

import io
import random
import subprocess
import sys
from contextlib import suppress
from time import perf_counter

import onnx
import onnx_models
import pytest
from onnx import helper

from compiler.errors import MillraceError, UnsupportedError
from compiler.frontend.inputs.door import check_mlir, check_onnx
from compiler.frontend.inputs.onnx_operators import MAX_NODES

NET = onnx_models.mlp(1, (3, 5, 7))


def refusal(content: bytes) -> str:
    with pytest.raises(MillraceError) as error:
        check_onnx(io.BytesIO(content), "net.onnx")
    return str(error.value)


def with_node(op: str, domain: str = "") -> bytes:
    model = onnx.ModelProto()
    model.CopyFrom(NET)
    model.graph.node.append(helper.make_node(op, ["x"], ["y"], name="n", domain=domain))
    return model.SerializeToString()


def test_a_network_passes() -> None:
    check_onnx(io.BytesIO(NET.SerializeToString()), "net.onnx")
    check_onnx(io.BytesIO(onnx_models.chain(MAX_NODES).SerializeToString()), "net.onnx")
    check_mlir(io.BytesIO(b'"func.func"() <{sym_name = "main"}> ({}) : () -> ()'), "net.mlir")


def test_operators_are_refused_by_name() -> None:
    assert "node 'n' (Conv) is not supported" in refusal(with_node("Conv"))
    assert "is of the domain 'com.microsoft'" in refusal(with_node("Gelu", "com.microsoft"))
    with pytest.raises(UnsupportedError):
        check_onnx(io.BytesIO(with_node("LSTM")), "net.onnx")


def test_too_much_is_refused_in_a_second() -> None:
    crowd = onnx.ModelProto()
    crowd.CopyFrom(NET)
    more = [helper.make_tensor_value_info(f"i{n}", onnx.TensorProto.FLOAT, [1]) for n in range(20_000)]
    crowd.graph.input.extend(more)
    begun = perf_counter()
    assert " inputs; at most 4096, 8192 and 8192 are accepted" in refusal(crowd.SerializeToString())
    assert "4097 nodes" in refusal(onnx_models.chain(MAX_NODES + 1).SerializeToString())
    assert "more than" in refusal(bytes((1 << 3, 1)) * 100_000)  # one varint after the other
    assert perf_counter() - begun < 20  # of a busy machine


def test_any_bytes_are_refused_or_taken_and_nothing_else() -> None:
    whole = NET.SerializeToString()
    draw = random.Random(1)
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(draw.randrange(1, 6)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        with suppress(MillraceError):
            check_onnx(io.BytesIO(bytes(content[: draw.randrange(len(content))])), "net.onnx")


def test_the_door_loads_no_importer() -> None:
    code = "import sys, api.app; print([m for m in ('onnx', 'google.protobuf', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
