"""What an import loads: torch takes longer than a small network."""

import subprocess
import sys
from pathlib import Path

import onnx_models
import pytest

pytestmark = pytest.mark.slow

IMPORT = """
import sys
from pathlib import Path
from compiler.frontend.convert import convert
from compiler.frontend.inputs.source import FileSource
from compiler.options import Workload
source, folder = FileSource("net", Path(sys.argv[1]), sys.argv[2]), Path(sys.argv[3])
convert(source, Workload("net", "prefill", 8, "f32"), folder, lambda _: None)
print("torch" in sys.modules)
"""
MLIR = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.tanh ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
"""


@pytest.mark.parametrize(("kind", "data"), [("onnx", onnx_models.mlp().SerializeToString()), ("mlir", MLIR.encode())])
def test_what_torch_has_not_made_is_imported_without_it(kind: str, data: bytes, tmp_path: Path) -> None:
    file = tmp_path / f"net.{kind}"
    file.write_bytes(data)
    command = [sys.executable, "-c", IMPORT, str(file), kind, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr
