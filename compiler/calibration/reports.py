"""Reports of the tools from files and folders: those of C synthesis and of routed kernels count."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.calibration.from_csynth import Reading
from compiler.calibration.samples import Sample
from compiler.errors import InvalidInputError, ReportError
from compiler.platforms.memories import Memories
from compiler.toolchain.hls.csynth import CsynthReport
from compiler.toolchain.report import Report
from compiler.toolchain.reports import parse_source
from compiler.toolchain.source import read_source

SUFFIXES = frozenset({".xml", ".rpt", ".json", ".xutil"})
OURS = "millrace"


@dataclass(frozen=True)
class ReadReport:
    """A file that was read: its path, the digest of its content, its report."""

    path: Path
    digest: str
    text: str
    report: Report

    @property
    def source(self) -> str:
        """Of designs of one origin: the same for all of ours, else the file's name up to the first underscore."""
        return OURS if design_folder(self.path) else self.path.name.split("_")[0]

    @property
    def build(self) -> str:
        """Of reports of one design: the directory of a design of ours, where tools give all designs the same names."""
        return str(design_folder(self.path) or self.source)


@dataclass(frozen=True)
class Skipped:
    """A file that was no report that can be read, and why."""

    path: Path
    reason: str


def read_reports(paths: Sequence[Path]) -> tuple[tuple[ReadReport, ...], tuple[Skipped, ...]]:
    """All reports at and below `paths`, sorted by path; what folders hold besides is skipped.

    Raises InvalidInputError for a path that is not there, ReportError for a file that is given and is no report.
    """
    given = {path for path in paths if path.is_file()}
    read: list[ReadReport] = []
    skipped: list[Skipped] = []
    for path in _files(paths):
        try:
            source = read_source(path)
            digest = hashlib.sha256(source.raw).hexdigest()
            read.append(ReadReport(path, digest, source.text, parse_source(source)))
        except ReportError as error:
            if path in given:
                raise
            skipped.append(Skipped(path, str(error)))
    return tuple(read), tuple(skipped)


def _files(paths: Sequence[Path]) -> list[Path]:
    found: set[Path] = set()
    for path in paths:
        if path.is_dir():
            found |= {f for f in path.rglob("*") if f.suffix in SUFFIXES and f.is_file()}
        elif path.is_file():
            found.add(path)
        else:
            raise InvalidInputError(f"{path} is neither a report nor a folder with reports")
    return sorted(found)


def samples_of(reports: Iterable[ReadReport], memories: Memories) -> tuple[Sample, ...]:
    """Samples of all csynth reports, of parts with these memories. Twins count once: the .rpt and the .xml of a design,
    copies of a module in it.
    """
    unique: dict[tuple[object, ...], Sample] = {}
    for sample in _all_samples(reports, memories):
        name = "" if sample.part == "task" else sample.name
        amounts = (sample.lut.actual, sample.ff.actual, sample.bram36.actual)
        key = (sample.design, sample.kind, name, tuple(sample.features.values()), *amounts)
        unique.setdefault(key, sample)
    return tuple(unique.values())


def _all_samples(reports: Iterable[ReadReport], memories: Memories) -> Iterator[Sample]:
    for read in reports:
        if isinstance(read.report, CsynthReport):
            design, tokens = _design(read, read.report), token_bits(read.path)
            yield from Reading(read.report, read.text, read.source, design, memories, tokens).samples()


def _design(read: ReadReport, report: CsynthReport) -> str:
    """Twins of one design agree on its area; designs of one origin may share the name of their top."""
    return f"{read.build} {report.top} ({report.design.area.lut} LUT)"


def design_folder(report: Path) -> Path | None:
    """The directory of a design of ours that the report lies in, None where it is of another."""
    return next((folder for folder in report.resolve().parents if (folder / "design.json").is_file()), None)


def token_bits(report: Path) -> dict[str, int]:
    """Bits of the tokens that each task, and its function, moves in an iteration, where the report lies in a design's
    directory.
    """
    folder = design_folder(report)
    if folder is None:
        return {}
    file = folder / "dataflow.json"
    try:
        streams = json.loads(file.read_text())["streams"]
        reads, writes = (_widths(streams, end) for end in ("target", "source"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(f"{file} is damaged: {error!r}; compile the design again") from error
    bits = {task: max(reads.get(task, 0), writes.get(task, 0)) for task in {*reads, *writes}}
    return bits | {function: bits[task] for function, task in _functions(folder) if task in bits}


def _functions(folder: Path) -> Iterator[tuple[str, str]]:
    """Functions of the design, each with a task that is a call of it; none before the manifest named them."""
    file = folder / "params" / "manifest.json"
    if not file.is_file():
        return
    for kernel in json.loads(file.read_text())["kernels"]:
        yield from ((task["function"], task["name"]) for task in kernel.get("tasks", ()))


def _widths(streams: list[dict[str, Any]], end: str) -> dict[str, int]:
    """Sum of the widths of the streams that have this end at each task."""
    widths: dict[str, int] = {}
    for stream in streams:
        widths[stream[end]] = widths.get(stream[end], 0) + int(stream["width"])
    return widths
