"""Calibration data on its whole way: through the importer's process and its walls into scales, and into the key."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx_models import mlp, save

from compiler.errors import InvalidInputError
from compiler.frontend.bundle import bundle_key, import_model
from compiler.frontend.inputs.source import FileSource, whole_network


@pytest.mark.slow
def test_samples_decide_the_scales(tmp_path: Path) -> None:
    source = FileSource("net", save(mlp(1, (12, 8, 4)), tmp_path / "net.onnx"), "onnx")
    workload = replace(whole_network("net"), precision="w8a8")
    keys, scales = {bundle_key(source, workload)}, list[float]()
    for number, peak in enumerate((2.0, 8.0)):
        samples = tmp_path / f"{number}.npz"
        np.savez(samples, x=np.linspace(-peak, peak, 36, dtype=np.float32).reshape(3, 12))
        given = replace(source, samples=samples)
        bundle = import_model(given, workload, tmp_path / "cache")
        assert bundle.meta["quantised"]["calibration"] == "3 samples given of each input"
        scales.append(float(1 / bundle.tensors()["x.quantise.inv_scale"]))
        keys.add(bundle_key(given, workload))
    assert scales == pytest.approx([2 / 127, 8 / 127])
    assert len(keys) == 3
    np.savez(tmp_path / "2.npz", y=np.ones((1, 12), np.float32))
    with pytest.raises(InvalidInputError, match=r"2.npz must hold an array of each input, and nothing else: x"):
        import_model(replace(source, samples=tmp_path / "2.npz"), workload, tmp_path / "cache")
    with pytest.raises(InvalidInputError, match="the precision is f32: choose w8a8 or w4a8"):
        import_model(replace(source, samples=samples), whole_network("net"), tmp_path / "cache")


@pytest.mark.slow
def test_ports_of_integers_are_steps_of_the_scales_that_are_said(tmp_path: Path) -> None:
    """Nothing of the design computes in f32. What it is given and what it gives, times scales, is the network's."""
    source = FileSource("net", save(mlp(1, (12, 8, 4)), tmp_path / "net.onnx"), "onnx")
    workload = replace(whole_network("net"), precision="w8a8")
    asked = (replace(workload, ports="i8"), workload)
    bundle, floats = (import_model(source, each, tmp_path / "cache") for each in asked)
    assert {v.dtype for v in bundle.graph.values} <= {"i8", "i32"}
    scales, tensors = bundle.meta["quantised"]["port_scales"], bundle.tensors()
    assert set(scales) == {"x", "y"}
    assert floats.meta["quantised"]["port_scales"] == {}
    np.testing.assert_array_equal(tensors["x"], np.rint(floats.tensors()["x"] / scales["x"]))
    (given,), (made,) = (b.expected().values() for b in (bundle, floats))
    assert given.dtype == np.int8
    np.testing.assert_allclose(given * scales["y"], made, rtol=0, atol=0.51 * scales["y"])
    assert len({bundle_key(source, each) for each in asked}) == 2
    with pytest.raises(InvalidInputError, match="ports of integers are those of w8a8 and w4a8"):
        import_model(source, replace(whole_network("net"), ports="i8"), tmp_path / "cache")
