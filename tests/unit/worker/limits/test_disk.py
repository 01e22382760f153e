import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from orders import LIMITS

from worker.limits.disk import beyond, use_of
from worker.limits.group import Exceeded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of all kinds: small, sparse, with two names, in folders, and a link to somewhere large."""
    made = tmp_path / "made"
    (made / "a" / "b").mkdir(parents=True)
    for number in range(50):
        (made / "a" / f"{number}").write_bytes(os.urandom(1000 * number))
    with (made / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (made / "a" / "b" / "second").hardlink_to(made / "a" / "49")
    (made / "link").symlink_to("/usr")
    return made


def test_it_counts_as_du_does(folder: Path) -> None:
    said = subprocess.run(["du", "--summarize", "--block-size=1", folder], capture_output=True, text=True, check=True)
    assert use_of(folder).bytes == int(said.stdout.split()[0])
    assert use_of(folder).files == 3 + 50 + 1 + 1  # folders, files, the sparse one, the link


def test_what_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert use_of(tmp_path / "nowhere") == use_of(Path("/nowhere/at/all"))
    assert beyond(tmp_path / "nowhere", LIMITS) is None


def test_counting_stops_at_the_limit(folder: Path) -> None:
    assert use_of(folder, most_files=10).files == 11
    assert beyond(folder, replace(LIMITS, files=10)) == Exceeded("files", 10, 11)
    assert beyond(folder, replace(LIMITS, files=55)) is None


def test_bytes_are_limited_too(folder: Path) -> None:
    reached = beyond(folder, replace(LIMITS, disk_gb=100_000 / (1 << 30)))
    assert reached is not None
    assert (reached.resource, reached.limit) == ("disk", 100_000)
    assert 100_000 < reached.used < 200_000
