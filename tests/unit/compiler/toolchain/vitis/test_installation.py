"""Which Vitis a machine has: layouts of the installers, the environment, and the reasons for what is missing."""

import os
from pathlib import Path

import pytest
from vitis_standin.install import U55C, install

from compiler.toolchain.vitis.installation import find_installations, search
from compiler.toolchain.vitis.versions import front_ends, parsed, version_in


def test_all_versions_the_newest_first(tmp_path: Path) -> None:
    for version in ("2022.2", "2024.1", "2023.2", "2025.1"):
        install(tmp_path, version)
    found = find_installations([tmp_path])
    fronts = [(i.version, i.hls.front_end if i.hls else None) for i in found]
    assert fronts == [("2025.1", "config"), ("2024.1", "config"), ("2023.2", "vitis_hls"), ("2022.2", "vitis_hls")]
    assert {i.platforms for i in found} == {(U55C,)}
    assert [i.missing for i in found] == [{}] * 4
    assert all(i.vpp is not None and i.version in str(i.vpp) for i in found)


def test_nothing_says_where_it_looked(tmp_path: Path) -> None:
    found = search(environment={"MILLRACE_VITIS_ROOTS": str(tmp_path), "PATH": "/nowhere"})
    assert found.installations == ()
    assert found.missing["vitis"].startswith(f"no Vitis in {tmp_path}, /tools/Xilinx, ")
    assert "MILLRACE_VITIS_ROOTS" in found.missing["vitis"]


@pytest.mark.parametrize("where", ["roots", "PATH", "XILINX_VITIS"])
def test_the_environment_names_it(tmp_path: Path, where: str) -> None:
    install(tmp_path, "2024.2")
    home = tmp_path / "Vitis" / "2024.2"
    environment = {
        "roots": {"MILLRACE_VITIS_ROOTS": os.pathsep.join(["/nowhere", str(tmp_path)])},
        "PATH": {"PATH": f"/usr/bin{os.pathsep}{home / 'bin'}"},
        "XILINX_VITIS": {"XILINX_VITIS": str(home)},
    }[where]
    (found,) = search(environment=environment | {"PLATFORM_REPO_PATHS": str(tmp_path / "platforms")}).installations
    assert (found.version, found.platforms) == ("2024.2", (U55C,))


def test_a_folder_without_a_version_is_asked(tmp_path: Path) -> None:
    install(tmp_path / "x", "2024.2")
    (tmp_path / "x" / "Vitis" / "2024.2").rename(tmp_path / "x" / "Vitis" / "current")
    (found,) = find_installations([tmp_path / "x"])
    assert found.version == "2024.2"


def test_hls_alone_can_not_link(tmp_path: Path) -> None:
    install(tmp_path, "2022.2")
    (tmp_path / "Vitis" / "2022.2" / "bin" / "v++").unlink()
    (found,) = find_installations([tmp_path])
    assert found.hls is not None
    assert found.missing["link"].endswith("has no v++: install Vitis, not Vitis HLS alone")


def test_vitis_alone_can_not_synthesise(tmp_path: Path) -> None:
    install(tmp_path, "2022.2")
    (tmp_path / "Vitis_HLS" / "2022.2" / "bin" / "vitis_hls").unlink()
    (found,) = find_installations([tmp_path])
    assert found.hls is None
    assert found.missing["hls"].endswith("has no vitis_hls: install Vitis HLS 2022.2 too")


def test_without_the_unified_compiler_the_script_is_run(tmp_path: Path) -> None:
    install(tmp_path, "2024.2")
    (tmp_path / "Vitis" / "2024.2" / "bin" / "v++").unlink()
    (found,) = find_installations([tmp_path])
    assert found.hls is not None
    assert (found.hls.front_end, found.hls.synthesis.name) == ("tcl", "vitis-run")


def test_no_vivado_and_no_platform(tmp_path: Path) -> None:
    install(tmp_path, "2023.2", platforms=())
    (found,) = find_installations([tmp_path])
    assert found.missing["link"].startswith(f"no platform (*.xpfm) in {tmp_path}/platforms")
    (tmp_path / "Vivado" / "2023.2" / "bin" / "vivado").unlink()
    (found,) = find_installations([tmp_path])
    assert found.missing["link"].startswith("v++ links with Vivado 2023.2, which is not beside Vitis")


def test_a_vivado_alone_is_no_vitis(tmp_path: Path) -> None:
    install(tmp_path, "2024.2")
    for tool in ("v++", "vitis-run"):
        (tmp_path / "Vitis" / "2024.2" / "bin" / tool).unlink()
    assert find_installations([tmp_path]) == ()


def test_versions() -> None:
    assert version_in("/opt/xilinx/2022.1/Vitis/2022.1/bin/v++") == "2022.1"
    assert version_in("****** v++ v2023.2 (64-bit)\n  **** SW Build 4026344 on 2023-10-11") == "2023.2"
    assert version_in("/usr/lib/2023.25/x") is None
    assert front_ends("2023.2") == ("vitis_hls", "config", "tcl")
    assert front_ends("2024.1") == ("config", "tcl", "vitis_hls")
    assert front_ends("2024.2") == ("config", "tcl")
    with pytest.raises(ValueError, match="'9' is no version of Vitis"):
        parsed("9")
