"""The look at an uploaded network before it is stored, and again before it is imported: without the importers, which
would build what it declares; and at samples that come with it. In a confined process only: the bytes are hostile until
proven otherwise.
"""

from collections.abc import Callable

from compiler.frontend.scan.mlir import scan_mlir
from compiler.frontend.scan.npz import scan_npz
from compiler.frontend.scan.onnx import scan_onnx
from compiler.frontend.scan.pt2 import scan_pt2

_SCANS: dict[str, Callable[[int, str], None]] = {"onnx": scan_onnx, "mlir": scan_mlir, "pt2": scan_pt2, "npz": scan_npz}


def scan(descriptor: int, form: str, name: str) -> None:
    """Look at the file behind the descriptor, which `name` stands for in messages. Its position is left as it is, but
    for an archive's. Raises InvalidInputError, UnsupportedError.
    """
    _SCANS[form](descriptor, name)
