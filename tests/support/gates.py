"""Gates at which builds of tests hold until the test lets them go: files beside the one that RUNS names."""

from pathlib import Path


def gate(runs: Path, build_id: str) -> Path:
    """The file that opens the gate of a build by being there."""
    return runs.with_name(f"{runs.name}.{build_id}.open")
