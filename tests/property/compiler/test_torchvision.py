"""Blocks of torchvision's networks: their C++ computes what PyTorch does, and no task waits for ever."""

from pathlib import Path

import numpy as np
import pytest
from torchvision_blocks import BLOCKS, block

from compiler.frontend.bundle import load_bundle
from compiler.frontend.inputs.source import FORMATS, FileFormat, FileSource, whole_network
from compiler.options import Knobs
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim
from compiler.simulator.timing.simulate import simulate_directory

pytestmark = pytest.mark.slow


@pytest.fixture(params=BLOCKS)
def exported(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A block by its name, in a file of each format."""
    import torch

    made, given = block(request.param), (torch.zeros(BLOCKS[request.param]),)
    torch.export.save(torch.export.export(made, given), tmp_path / "net.pt2")
    torch.onnx.export(made, given, str(tmp_path / "net.onnx"), dynamo=False)
    return request.param, tmp_path


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "mlir"])
def test_blocks_compute_what_pytorch_says(exported: tuple[str, Path], form: FileFormat) -> None:
    import torch

    from compiler.frontend.convert import convert

    name, folder = exported
    (folder / "bundle").mkdir()
    source = FileSource("net", folder / f"net.{form}", form)
    convert(source, whole_network("net"), folder / "bundle", lambda _: None)
    bundle = load_bundle(folder / "bundle")
    (given,) = (bundle.tensors()[v.source] for v in bundle.graph.values if v.role == "input")
    (expected,) = bundle.expected().values()
    with torch.no_grad():
        exact = block(name)(torch.from_numpy(given.reshape(BLOCKS[name]))).numpy()
    np.testing.assert_allclose(expected.reshape(exact.shape), exact, rtol=0, atol=1e-5 * np.abs(exact).max())
    assert compile_design(bundle, Knobs(), load_platform("u55c"), folder / "design").feasible
    verdict = csim(folder / "design")
    assert verdict.passed, verdict.message
    assert verdict.tasks_checked == verdict.tasks
    assert simulate_directory(folder / "design").deadlock is None
