"""What one run of a tool may take of the machine."""

from dataclasses import dataclass

GB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """Wall clock of the whole stage, memory of all its processes together, disk of its work folder.

    Memory is sampled and the run is killed above it: an address space limit (RLIMIT_AS) would break the Java and Vivado
    processes, which reserve far more than they use.
    """

    seconds: float
    memory_gb: float = 64.0
    disk_gb: float = 100.0

    @property
    def memory_bytes(self) -> float:
        return self.memory_gb * GB

    @property
    def disk_bytes(self) -> float:
        return self.disk_gb * GB
