"""The network of the tutorial: two layers as PyTorch's exporter writes them, with seeded weights.

python -m bench.site.mlp    # writes docs/data/mlp.onnx
"""

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from bench.site.kept import DATA

FILE = DATA / "mlp.onnx"
ROWS, SIZES = 16, (64, 128, 10)


def _weights(seed: int, *shape: int) -> NDArray[np.float32]:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.1).astype(np.float32)


def network() -> bytes:
    """The file: `x` [16, 64] to `y` [16, 10]."""
    first, middle, last = SIZES
    nodes = [
        helper.make_node("Gemm", ["x", "fc1.weight", "fc1.bias"], ["a"], name="/fc1/Gemm", transB=1),
        helper.make_node("Relu", ["a"], ["b"], name="/act/Relu"),
        helper.make_node("Gemm", ["b", "fc2.weight", "fc2.bias"], ["y"], name="/fc2/Gemm", transB=1),
    ]
    stored = {
        "fc1.weight": _weights(1, middle, first),
        "fc1.bias": _weights(2, middle),
        "fc2.weight": _weights(3, last, middle),
        "fc2.bias": _weights(4, last),
    }
    graph = helper.make_graph(
        nodes,
        "mlp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, first])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, last])],
        [numpy_helper.from_array(values, name) for name, values in stored.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10).SerializeToString()


if __name__ == "__main__":
    FILE.write_bytes(network())
