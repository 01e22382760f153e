"""Memory and processors of containers, from made-up /proc and /sys/fs/cgroup."""

from pathlib import Path

import pytest

from compiler.machine import V2, find_machine, lines_of, most_jobs, own_group

GB = 1 << 30


class Root:
    """A file system root with what the kernel shows of control groups."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "proc" / "self").mkdir(parents=True)
        self._mounts, self._groups = list[str](), list[str]()

    def mount(self, point: str, kind: str, options: str, above: str = "/") -> None:
        self._mounts.append(f"30 23 0:26 {above} {point} rw,relatime shared:9 - {kind} cgroup {options}")
        (self.path / "proc/self/mountinfo").write_text("\n".join(self._mounts))

    def member(self, line: str) -> None:
        self._groups.append(line)
        (self.path / "proc/self/cgroup").write_text("\n".join(self._groups))

    def group(self, folder: str, **values: str) -> None:
        where = self.path / folder
        where.mkdir(parents=True, exist_ok=True)
        (where / "cgroup.procs").touch()
        for name, value in values.items():
            (where / name.replace("__", ".")).write_text(value + "\n")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    """A host of 64 GB and 16 cores."""
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": 64 * GB // 4096, "SC_PAGE_SIZE": 4096}.__getitem__)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    return Root(tmp_path)


def test_a_machine_without_groups_has_all_of_itself(root: Root) -> None:
    machine = find_machine(root.path)
    assert (machine.memory_bytes, machine.cpus) == (64 * GB, 16)


def test_a_container_of_version_2(root: Root) -> None:
    root.mount("/sys/fs/cgroup", "cgroup2", "rw")
    root.member("0::/")
    root.group("sys/fs/cgroup", memory__max=str(4 * GB), cpu__max="150000 100000")
    machine = find_machine(root.path)
    assert (machine.memory_bytes, machine.cpus) == (4 * GB, 1.5)
    assert most_jobs(1, root.path) == 1


def test_the_narrowest_group_around_us_counts(root: Root) -> None:
    root.mount("/sys/fs/cgroup", "cgroup2", "rw")
    root.member("0::/pod/box")
    root.group("sys/fs/cgroup")
    root.group("sys/fs/cgroup/pod", memory__max=str(8 * GB), cpu__max="400000 100000")
    root.group("sys/fs/cgroup/pod/box", memory__max="max", cpu__max="max 100000")
    machine = find_machine(root.path)
    assert (machine.memory_bytes, machine.cpus) == (8 * GB, 4)


def test_a_container_of_version_1_sees_only_its_own_part(root: Root) -> None:
    root.mount("/sys/fs/cgroup/memory", "cgroup", "rw,memory", above="/docker/0a1b")
    root.mount("/sys/fs/cgroup/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct", above="/docker/0a1b")
    root.member("4:memory:/docker/0a1b")
    root.member("3:cpu,cpuacct:/docker/0a1b")
    root.group("sys/fs/cgroup/memory", memory__limit_in_bytes=str(2 * GB))
    root.group("sys/fs/cgroup/cpu,cpuacct", cpu__cfs_quota_us="50000", cpu__cfs_period_us="100000")
    machine = find_machine(root.path)
    assert (machine.memory_bytes, machine.cpus) == (2 * GB, 0.5)
    assert most_jobs(1, root.path) == 1


def test_version_1_says_no_limit_with_a_very_large_one(root: Root) -> None:
    root.mount("/sys/fs/cgroup/memory", "cgroup", "rw,memory")
    root.mount("/sys/fs/cgroup/cpu", "cgroup", "rw,cpu")
    root.member("4:memory:/")
    root.member("1:cpu:/")
    root.group("sys/fs/cgroup/memory", memory__limit_in_bytes="9223372036854771712")
    root.group("sys/fs/cgroup/cpu", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    machine = find_machine(root.path)
    assert (machine.memory_bytes, machine.cpus) == (64 * GB, 16)


def test_where_our_own_group_is(root: Root) -> None:
    root.mount("/sys/fs/cgroup/unified", "cgroup2", "rw")
    root.mount("/sys/fs/cgroup/memory", "cgroup", "rw,memory")
    root.member("4:memory:/service")
    root.member("0::/")
    root.group("sys/fs/cgroup/memory/service")
    root.group("sys/fs/cgroup/unified")
    assert own_group("memory", root.path) == root.path / "sys/fs/cgroup/memory/service"
    assert own_group(V2, root.path) == root.path / "sys/fs/cgroup/unified"
    assert own_group("pids", root.path) is None


def test_as_many_jobs_as_there_is_memory_for(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_jobs(GB, root.path) == 16
    monkeypatch.setattr("resource.getrlimit", lambda _: (4 * GB, 8 * GB))  # what a build was given
    assert find_machine(root.path).memory_bytes == 4 * GB
    assert most_jobs(GB, root.path) == 4
    assert most_jobs(5 * GB, root.path) == 1


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a 1\nb 2\n")
    assert lines_of(tmp_path / "there") == ["a 1", "b 2"]
    assert lines_of(tmp_path / "gone") == []
