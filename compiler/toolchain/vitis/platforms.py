"""Platforms that v++ can link for: folders `<repository>/<name>/<name>.xpfm`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORIES = "PLATFORM_REPO_PATHS"


@dataclass(frozen=True, slots=True)
class Platforms:
    """`names` sorted; `repositories` are the folders that hold them; `looked` are all that were looked into."""

    names: tuple[str, ...]
    repositories: tuple[Path, ...]
    looked: tuple[Path, ...]

    @property
    def why_none(self) -> str:
        places = ", ".join(map(str, self.looked))
        return f"no platform (*.xpfm) in {places}: install the card's development platform, or set {REPOSITORIES}"


def find_platforms(roots: Sequence[Path], caller: Mapping[str, str]) -> Platforms:
    """Those of PLATFORM_REPO_PATHS, of /opt/xilinx/platforms, and of a folder `platforms` in a root."""
    named = [Path(part) for part in caller.get(REPOSITORIES, "").split(os.pathsep) if part]
    looked = tuple(dict.fromkeys([*named, *(root / "platforms" for root in roots)]))
    files = {repository: _files(repository) for repository in looked}
    names = sorted({file.stem for found in files.values() for file in found})
    return Platforms(tuple(names), tuple(repository for repository in looked if files[repository]), looked)


def _files(repository: Path) -> list[Path]:
    """A repository may be the folder of one platform, too."""
    return [*repository.glob("*/*.xpfm"), *repository.glob("*.xpfm")]
