"""What is written and read of version 2, in made-up folders: few machines let a test make real ones."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from orders import LIMITS

from worker.limits import cgroup_v2
from worker.limits.cgroup_v2 import CgroupV2Backend
from worker.limits.group import Counters, Exceeded

EVENTS = {
    "memory.events": "oom 0\noom_kill 0\noom_group_kill 0",
    "pids.events": "max 0",
    "cpu.stat": "usage_usec 500000",
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """The top of the hierarchy as a container sees it, with one process: this one."""
    folder = tmp_path / "sys/fs/cgroup"
    folder.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
    (tmp_path / "proc/self/cgroup").write_text("0::/")
    files = {
        "cgroup.controllers": "cpuset cpu io memory pids",
        "cgroup.subtree_control": "",
        "cgroup.type": "domain",
        "cgroup.procs": str(os.getpid()),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def backend(top: Path) -> CgroupV2Backend:
    return CgroupV2Backend(top.parents[2])


def test_our_processes_make_room_for_groups_that_are_limited(top: Path) -> None:
    made = backend(top)
    assert made.why_not is None
    group = made.open(77)
    assert (top / "millrace-service/cgroup.procs").read_text() == str(os.getpid())
    assert (top / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    [entrance] = group.entrance
    assert Path(entrance).parent.parent == top
    assert Path(entrance).parent.name.endswith("-77")


def test_a_worker_that_was_moved_divides_the_same_group(top: Path) -> None:
    backend(top).open(1)
    (top / "cgroup.subtree_control").write_text("cpu memory pids")
    (top / "millrace-service/cgroup.controllers").write_text("cpu memory pids")
    (top.parents[2] / "proc/self/cgroup").write_text("0::/millrace-service")
    made = backend(top)
    assert made.why_not is None
    assert Path(made.open(2).entrance[0]).parent.parent == top


def test_the_kernel_is_told_the_limits(top: Path) -> None:
    group = backend(top).open(1)
    folder = Path(group.entrance[0]).parent
    for name in ("memory.swap.max", "memory.oom.group", "cpu.weight"):
        (folder / name).touch()
    group.hold(replace(LIMITS, memory_gb=2, processes=50, cpus=4))
    written = {path.name: path.read_text() for path in folder.iterdir()}
    assert written == {
        "memory.max": str(2 << 30),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "50",
        "cpu.weight": "400",
    }


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, None),
        ({"memory.events": "oom 1\noom_kill 3"}, Exceeded("memory", 8 << 30, 8 << 30)),
        ({"memory.events": "oom 0\noom_kill 1"}, None),  # the machine was full, not the group
        ({"memory.events": "oom 4\noom_kill 0"}, None),
        ({"pids.events": "max 2"}, Exceeded("processes", 1000, 1000)),
        ({"cpu.stat": "usage_usec 3600400000\nuser_usec 1"}, None),
        ({"cpu.stat": "usage_usec 3601000000\nuser_usec 1"}, Exceeded("processor time", 3600, 3600.5)),
    ],
)
def test_what_the_kernel_counted_says_which_limit_was_reached(
    top: Path, changed: dict[str, str], expected: Exceeded | None
) -> None:
    group = backend(top).open(1)
    folder = Path(group.entrance[0]).parent
    for name, text in EVENTS.items():
        (folder / name).write_text(text)
    since = group.begin()
    assert since == Counters(cpu_s=0.5)
    for name, text in changed.items():
        (folder / name).write_text(text)
    assert group.exceeded(LIMITS, since) == expected


def test_one_write_kills_all(top: Path) -> None:
    group = backend(top).open(1)
    group.kill()
    assert (Path(group.entrance[0]).parent / "cgroup.kill").read_text() == "1"


def test_it_says_what_it_lacks(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "cgroup.controllers").write_text("cpu io")
    assert "has no controller memory, pids" in str(backend(top).why_not)
    (top / "cgroup.controllers").write_text("cpu memory pids")
    (top / "cgroup.type").unlink()  # the top of a whole machine
    assert "not ours to divide: run Millrace as a systemd service with Delegate=yes" in str(backend(top).why_not)
    monkeypatch.setattr(cgroup_v2.os, "getxattr", lambda *_: b"1")
    assert backend(top).why_not is None
    (top.parents[2] / "proc/self/mountinfo").unlink()
    assert backend(top).why_not == "it is not mounted"


def test_groups_of_dead_workers_are_swept(top: Path) -> None:
    """Not those of containers, whose processes have numbers of their own."""
    made = backend(top)
    ours = Path(made.open(5).entrance[0]).parent
    _, namespace, _, _, _ = ours.name.split("-")
    dead, elsewhere = top / f"millrace-{namespace}-1-0-9", top / "millrace-77-1-0-9"
    dead.mkdir()
    elsewhere.mkdir()
    made.sweep()
    assert ours.exists()
    assert not dead.exists()
    assert elsewhere.exists()
    assert (top / "millrace-service").exists()
