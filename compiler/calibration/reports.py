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
from compiler.toolchain.hls.csynth import CsynthReport
from compiler.toolchain.report import Report
from compiler.toolchain.reports import parse_source
from compiler.toolchain.source import read_source

SUFFIXES = frozenset({".xml", ".rpt", ".json", ".xutil"})


@dataclass(frozen=True)
class ReadReport:
    """A file that was read: its path, the digest of its content, its report. `source` groups designs of one origin: the
    file's name up to the first underscore.
    """

    path: Path
    digest: str
    text: str
    report: Report

    @property
    def source(self) -> str:
        return self.path.name.split("_")[0]


@dataclass(frozen=True)
class Skipped:
    """A file that was no report that can be read, and why."""

    path: Path
    reason: str


def read_reports(paths: Sequence[Path]) -> tuple[tuple[ReadReport, ...], tuple[Skipped, ...]]:
    """All reports below `paths`, sorted by path. Raises InvalidInputError for a path that is not there."""
    read: list[ReadReport] = []
    skipped: list[Skipped] = []
    for path in _files(paths):
        try:
            source = read_source(path)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            read.append(ReadReport(path, digest, source.text, parse_source(source)))
        except ReportError as error:
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


def samples_of(reports: Iterable[ReadReport]) -> tuple[Sample, ...]:
    """Samples of all csynth reports. Twins count once: the .rpt and the .xml of a design, copies of a module in it."""
    unique: dict[tuple[object, ...], Sample] = {}
    for sample in _all_samples(reports):
        name = "" if sample.part == "task" else sample.name
        amounts = (sample.lut.actual, sample.ff.actual, sample.bram36.actual)
        key = (sample.design, sample.kind, name, tuple(sample.features.values()), *amounts)
        unique.setdefault(key, sample)
    return tuple(unique.values())


def _all_samples(reports: Iterable[ReadReport]) -> Iterator[Sample]:
    for read in reports:
        if isinstance(read.report, CsynthReport):
            tokens = token_bits(read.path)
            yield from Reading(read.report, read.text, read.source, _design(read, read.report), tokens).samples()


def _design(read: ReadReport, report: CsynthReport) -> str:
    """Twins of one design agree on its area; designs of one origin may share the name of their top."""
    return f"{read.source} {report.top} ({report.design.area.lut} LUT)"


def token_bits(report: Path) -> dict[str, int]:
    """Bits of the tokens that each task moves in an iteration, where the report lies in a design's directory."""
    designs = (folder for folder in report.resolve().parents if (folder / "design.json").is_file())
    file = next((folder / "dataflow.json" for folder in designs), None)
    if file is None:
        return {}
    try:
        streams = json.loads(file.read_text())["streams"]
        reads, writes = (_widths(streams, end) for end in ("target", "source"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(f"{file} is damaged: {error!r}; compile the design again") from error
    return {task: max(reads.get(task, 0), writes.get(task, 0)) for task in {*reads, *writes}}


def _widths(streams: list[dict[str, Any]], end: str) -> dict[str, int]:
    """Sum of the widths of the streams that have this end at each task."""
    widths: dict[str, int] = {}
    for stream in streams:
        widths[stream[end]] = widths.get(stream[end], 0) + int(stream["width"])
    return widths
