"""`xrt.run_summary` of XRT: the files that a profiled run wrote."""

from dataclasses import dataclass

from compiler.metrics import Metric
from compiler.toolchain.json_text import Node, json_root, looks_like_json
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`files` is name -> kind ("VP_TRACE", "PROFILE_SUMMARY" ...), relative to the summary."""

    schema: str
    written_by: str
    files: dict[str, str]
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """None: it only lists files."""
        return ()


def is_run_summary(source: Source) -> bool:
    return looks_like_json(source) and all(f'"{key}"' in source.text for key in ("schema_version", "generation"))


def parse_run_summary(source: Source) -> RunSummary:
    """Raises ReportError for another file and for one that is cut."""
    if not is_run_summary(source):
        raise source.foreign("a run summary of XRT", "the xrt.run_summary of a profiled run")
    root = json_root(source)
    version = root.get("schema_version")
    schema = ".".join(version.get(part).text() for part in ("major", "minor", "patch"))
    files = {_name(file): file.get("type").text() for file in root.get("files").each()}
    return RunSummary(schema, root.get("generation").get("source").text(), files)


def _name(file: Node) -> str:
    return file.get("name").text()
