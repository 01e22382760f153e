"""How much lies on the disk, and how much came over the network."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

GB = 1e9


def on_disk(*paths: Path) -> list[float]:
    """GB that each path takes beyond those before it: a file that two share through links counts for the first."""
    present = [path for path in paths if path.exists()]
    command = ["du", "--summarize", "--one-file-system", "--block-size=1", *map(str, present)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    sizes = {name: int(size) / GB for size, name in (line.split("\t", 1) for line in listed)}
    return [sizes.get(str(path), 0.0) for path in paths]


def received() -> float:
    """GB that this machine has received since it started, for whichever process, loopback apart."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return _sum_of([line.split(":", 1) for line in lines]) / GB


def _sum_of(interfaces: Sequence[Sequence[str]]) -> int:
    return sum(int(counters.split()[0]) for name, counters in interfaces if name.strip() != "lo")
