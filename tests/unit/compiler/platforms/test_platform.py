"""The board files say nothing that contradicts itself, and a file that describes no board says why."""

from dataclasses import replace
from pathlib import Path

import pytest
from invented_board import INVENTED

from compiler.errors import InvalidInputError
from compiler.host.packing import layout_from_json
from compiler.platforms.platform import load_platform, named_platform, platform_names
from compiler.platforms.stored import store_platform, stored_platform

BOARDS = (*platform_names(), INVENTED)


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("resource", ["lut", "ff", "dsp", "bram36", "uram"])
def test_dies_add_up_to_the_board(name: str | Path, resource: str) -> None:
    platform = load_platform(name)
    assert sum(getattr(slr, resource) for slr in platform.dies.slrs) == getattr(platform.budget, resource)


@pytest.mark.parametrize("name", BOARDS)
def test_one_die_has_the_hbm_and_every_boundary_its_wires(name: str | Path) -> None:
    dies = load_platform(name).dies
    assert sum(slr.hbm for slr in dies.slrs) == 1
    assert len(dies.sll) == len(dies.slrs) - 1
    assert 0 < dies.comfort < 1


def test_a_design_may_use_seventy_percent_unless_the_board_file_gives_more(tmp_path: Path) -> None:
    u55c, invented = load_platform("u55c"), load_platform(INVENTED)
    assert (u55c.dies.fill, invented.dies.fill) == (0.7, 0.9)
    assert u55c.limit("lut") == 0.7 * u55c.budget.lut
    assert u55c.limit("hbm_ports") == u55c.budget.hbm_ports, "a port is used or not"
    silent = tmp_path / "silent.toml"
    silent.write_text(INVENTED.read_text().replace("fill = 0.9\n", ""))
    assert load_platform(silent).dies.fill == invented.dies.comfort


def test_an_unknown_board_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="u55c"):
        load_platform("nope")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[hbm]", "[hmb]", "describes no board: it lacks 'hbm'"),
        ("port_bits = 256", "", "describes no board: it lacks 'port_bits'"),
        ("port_bits = 256", "port_bits = 300", "describes no board: .*not 300"),
        ("sll = [9000]", "sll = []", "describes no board: .*sll"),
        ("comfort = 0.6", "comfort = ", "describes no board: .*line 20"),
        ("fill = 0.9", "fill = 0.5", "describes no board: .*comfort <= fill"),
        ("channels = 12", "channels = 12\nlanes = 3", "describes no board: .*lanes"),
    ],
)
def test_a_file_that_describes_no_board_says_why(old: str, new: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    text = INVENTED.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(InvalidInputError, match=reason):
        named_platform(str(file))
    with pytest.raises(InvalidInputError, match="can not be read: No such file"):
        named_platform(str(tmp_path / "none.toml"))
    assert named_platform("u55c") is load_platform("u55c")


def test_a_design_carries_a_board_that_is_not_shipped(tmp_path: Path) -> None:
    store_platform(load_platform("u55c"), tmp_path)
    assert stored_platform(tmp_path) is load_platform("u55c")
    store_platform(load_platform(INVENTED), tmp_path)
    assert stored_platform(tmp_path, "invented") == load_platform(INVENTED)


def test_images_of_older_designs_are_of_512_bit_ports() -> None:
    entry = {"element": [4], "dtype": "f32", "loops": [], "channels": 2, "tokens_per_word": 8, "words_per_token": 1}
    assert layout_from_json({**entry, "shape": [4]}).channel_bytes == 64
    assert layout_from_json({**entry, "shape": [4], "port_bits": 256}).channel_bytes == 32


def test_a_platform_may_be_asked_for_more(tmp_path: Path) -> None:
    asked = named_platform("u55c@85")
    assert asked == replace(load_platform("u55c"), name="u55c@85", dies=replace(load_platform("u55c").dies, fill=0.85))
    store_platform(asked, tmp_path)
    assert stored_platform(tmp_path, asked.name) is asked, "a design directory names it"


@pytest.mark.parametrize("name", ["u55c@", "u55c@x", "u55c@69", "u55c@101", "u55c@-80", "u55c@8.5"])
def test_a_share_that_can_not_be_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="u55c@70 to u55c@100"):
        load_platform(name)
