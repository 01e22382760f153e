"""Says whether web/dist was built from the sources beside it; needs no Node.

`python web/check_dist.py` exits 1 when it was not. `npm run build` ends with `--write`, which stores the digest.
"""

import hashlib
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
STAMP = WEB / "dist" / "source.sha256"
FILES = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")
FOLDERS = ("src", "public")


def sources() -> list[Path]:
    """Everything that the bundle depends on, unit tests left out, in a fixed order."""
    inside = [p for folder in FOLDERS for p in (WEB / folder).rglob("*") if p.is_file() and ".test." not in p.name]
    return sorted([WEB / name for name in FILES] + inside)


def digest() -> str:
    """SHA-256 over the paths and contents of the sources."""
    total = hashlib.sha256()
    for path in sources():
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{content}  {path.relative_to(WEB).as_posix()}\n".encode())
    return total.hexdigest()


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        STAMP.write_text(digest() + "\n")
        return 0
    if STAMP.is_file() and STAMP.read_text().strip() == digest():
        return 0
    print("web/dist was not built from these sources; run `npm ci && npm run build` in web/ and commit web/dist")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
