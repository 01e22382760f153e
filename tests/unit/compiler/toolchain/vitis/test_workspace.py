"""The folder that a tool works in."""

from pathlib import Path

import pytest

from compiler.errors import InvalidInputError
from compiler.toolchain.vitis.workspace import kernels_of, workspace


def write_design(folder: Path, *tops: str) -> Path:
    (folder / "hls").mkdir(parents=True)
    (folder / "params").mkdir()
    for number, top in enumerate(tops):
        name = "hls.cfg" if number == 0 else f"hls_k{number}.cfg"
        (folder / "hls" / name).write_text(f"part=x\n\n[hls]\nclock=312.5MHz\nsyn.top={top}\n")
    return folder


def test_kernels_in_their_order(tmp_path: Path) -> None:
    names = [f"d_k{k}" for k in range(12)]
    found = kernels_of(write_design(tmp_path, *names))
    assert [kernel.name for kernel in found] == names
    assert {kernel.clock_mhz for kernel in found} == {312.5}


def test_code_is_copied_data_is_linked_and_all_goes(tmp_path: Path) -> None:
    design = write_design(tmp_path / "design", "d_k0")
    (design / "params" / "w.bin").write_bytes(b"w")
    with workspace(design, tmp_path / "out") as place:
        assert not (place.code / "hls.cfg").is_symlink()
        (place.code / "hls.cfg").write_text("changed")
        assert (place.code.parent / "params").is_symlink()
        assert (place.code / ".." / "params" / "w.bin").read_bytes() == b"w"
        assert (place.code.parent / "out").is_dir()
        root = place.root
    assert not root.exists()
    assert "syn.top" in (design / "hls" / "hls.cfg").read_text()


def test_a_folder_that_is_left_over_is_replaced(tmp_path: Path) -> None:
    left = tmp_path / "out" / "work" / "design" / "hls"
    left.mkdir(parents=True)
    with workspace(write_design(tmp_path / "design", "d_k0"), tmp_path / "out") as place:
        assert [kernel.name for kernel in place.kernels] == ["d_k0"]


def test_a_configuration_without_a_top(tmp_path: Path) -> None:
    design = write_design(tmp_path, "d_k0")
    (design / "hls" / "hls.cfg").write_text("[hls]\n")
    with pytest.raises(InvalidInputError, match=r"names no syn\.top"):
        kernels_of(design)
