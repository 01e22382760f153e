"""Archives of torch.export: refused unopened, imported where allowed, harmless even then."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.bundle import Bundle, import_model
from compiler.frontend.inputs.source import resolve_source, whole_network
from compiler.frontend.interpret import interpret, outputs_of

pytestmark = pytest.mark.slow

ImportFile = Callable[..., Bundle]


def _assert_computes(bundle: Bundle) -> None:
    made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
    for name, result in bundle.expected().items():
        np.testing.assert_allclose(made[name], result, rtol=0, atol=1e-5)


def test_mlp(tmp_path: Path, import_file: ImportFile) -> None:
    import torch
    from pt2_files import Mlp, save_pt2

    bundle = import_file(save_pt2(Mlp(), torch.zeros(5, 13), tmp_path / "net.pt2"))
    _assert_computes(bundle)
    assert bundle.meta["reference"] == "PyTorch"
    params = {v.name for v in bundle.graph.values if v.role == "param"}
    assert params == {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "shift"}
    assert [op.name for op in bundle.graph.ops if op.name.endswith("matmul")] == ["fc1.matmul", "fc2.matmul"]


def test_inputs_of_a_batch_differ_and_each_has_its_own_result(tmp_path: Path, import_file: ImportFile) -> None:
    import torch
    from pt2_files import Mlp, save_pt2

    bundle = import_file(save_pt2(Mlp(), torch.zeros(5, 13), tmp_path / "net.pt2"), 3)
    network, tensors, expected = bundle.network(), bundle.tensors(), bundle.expected()
    assert len({x.tobytes() for x in tensors["x"]}) == 3
    for x, result in zip(tensors["x"], expected["out0"], strict=True):
        made = outputs_of(network, interpret(network, {**tensors, "x": x}))
        np.testing.assert_allclose(made["out0"], result, rtol=0, atol=1e-5)


def test_attention_block(tmp_path: Path, import_file: ImportFile) -> None:
    import torch
    from pt2_files import AttentionBlock, save_pt2

    bundle = import_file(save_pt2(AttentionBlock(), torch.zeros(1, 7, 24), tmp_path / "net.pt2"))
    _assert_computes(bundle)
    assert not any("main" in op.name for op in bundle.graph.ops)


def test_a_norm_goes_into_the_convolution_before_it_and_nearest_neighbours_repeat(
    tmp_path: Path, import_file: ImportFile
) -> None:
    import torch
    from pt2_files import Upsampled, save_pt2

    bundle = import_file(save_pt2(Upsampled(), torch.zeros(1, 2, 4, 5), tmp_path / "net.pt2"))
    _assert_computes(bundle)
    graph = bundle.graph
    assert [op.windows.repeat for op in graph.ops if op.windows is not None] == [1, 1, 2, 3, 1, 1]
    assert {v.name for v in graph.values if v.role == "param"} == {"norm.bias", "first.weight", "second.weight"}
    assert not any(op.name == "arith.mulf" for o in graph.ops if o.body and not o.body.is_product for op in o.body.ops)


def test_a_norm_goes_into_the_linear_layer_whose_channels_it_has(tmp_path: Path, import_file: ImportFile) -> None:
    import torch
    from pt2_files import Normed, save_pt2

    bundle = import_file(save_pt2(Normed(), torch.zeros(4, 4), tmp_path / "net.pt2"))
    _assert_computes(bundle)
    read = {v.name for v in bundle.graph.values if v.role == "param"}
    assert not {"norm.weight", "norm.running_mean"} & read
    assert {"norm.bias", "other.weight", "other.running_mean"} <= read


def test_other_interpolation_is_refused_by_name(tmp_path: Path, import_file: ImportFile) -> None:
    import torch
    from pt2_files import save_pt2

    for name, kind, shown in (
        (
            "between",
            torch.nn.Upsample(scale_factor=2, mode="bilinear"),
            "upsample_bilinear2d at 1, from .1, 2, 4, 4. to",
        ),
        (
            "part",
            torch.nn.Upsample(scale_factor=1.5),
            "upsample_nearest2d at 1, .* is not supported; of all interpolation",
        ),
    ):
        path = save_pt2(torch.nn.Sequential(torch.nn.ReLU(), kind), torch.zeros(1, 2, 4, 4), tmp_path / f"{name}.pt2")
        with pytest.raises(UnsupportedError, match=shown):
            import_file(path)


def test_refused_without_opening(tmp_path: Path) -> None:
    from pt2_files import poisoned

    harm = tmp_path / "harm"
    path = poisoned(tmp_path / "net.pt2", f"touch {harm}")
    with pytest.raises(UnsupportedError, match=r"pickled objects.*--allow-pt2"):
        import_model(path, whole_network("net"), tmp_path / "cache")
    assert not harm.exists()
    assert not (tmp_path / "cache").exists()


def test_the_process_holds_what_it_was_allowed_to_load(tmp_path: Path) -> None:
    """The real process: what a pickle would load is seen before torch loads it."""
    import torch
    from pt2_files import Mlp, poisoned, save_pt2

    harm = tmp_path / "harm"
    path = poisoned(tmp_path / "net.pt2", f"touch {harm}")
    source = resolve_source(path, allow_pt2=True)
    with pytest.raises(UnsupportedError, match=r"would load 'posix system'"):
        import_model(source, whole_network("net"), tmp_path / "cache")  # pyright: ignore[reportArgumentType]
    assert not harm.exists()
    good = resolve_source(save_pt2(Mlp(), torch.zeros(5, 13), tmp_path / "good.pt2"), allow_pt2=True)
    _assert_computes(import_model(good, whole_network("good"), tmp_path / "cache"))  # pyright: ignore[reportArgumentType]


def test_what_is_no_archive(tmp_path: Path, import_file: ImportFile) -> None:
    (tmp_path / "net.pt2").write_bytes(b"PK\x03\x04 no more")
    with pytest.raises(InvalidInputError, match="not a whole zip archive"):
        import_file(tmp_path / "net.pt2")


def test_an_archive_of_something_else(tmp_path: Path, import_file: ImportFile) -> None:
    with zipfile.ZipFile(tmp_path / "net.pt2", "w") as archive:
        archive.writestr("readme", "no network")
    with pytest.raises(InvalidInputError, match="is no archive of torch"):
        import_file(tmp_path / "net.pt2")


def test_dynamic_shapes_are_refused(tmp_path: Path, import_file: ImportFile) -> None:
    import torch
    from pt2_files import Mlp

    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(Mlp().eval(), (torch.zeros(4, 13),), dynamic_shapes=({0: batch},), strict=False)
    torch.export.save(program, tmp_path / "net.pt2")
    with pytest.raises(UnsupportedError, match="input x has the dynamic shape"):
        import_file(tmp_path / "net.pt2")


def test_weights_that_are_not_finite(tmp_path: Path, import_file: ImportFile) -> None:
    import torch
    from pt2_files import Mlp, save_pt2

    network = Mlp()
    with torch.no_grad():
        network.fc1.weight[0, 0] = float("nan")
    with pytest.raises(InvalidInputError, match="not finite"):
        import_file(save_pt2(network, torch.zeros(2, 13), tmp_path / "net.pt2"))
