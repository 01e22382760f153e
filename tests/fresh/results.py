"""What the steps of one machine gave: kept in a file, so that a bench that was interrupted goes on."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

Outcomes = Mapping[str, str]  # of each test: `passed`, `failed`, or `skipped: why`


@dataclass(frozen=True, slots=True)
class Result:
    """One step. `disk_gb` is what the machine grew by, `received_gb` what came over the network meanwhile; `facts` are
    what else was measured, by name.
    """

    machine: str
    step: str
    passed: bool
    message: str
    seconds: float
    disk_gb: float
    received_gb: float
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    tests: Outcomes = field(default_factory=dict[str, str])

    def count(self, outcome: str) -> int:
        return sum(found.partition(":")[0] == outcome for found in self.tests.values())


@dataclass(frozen=True, slots=True)
class Records:
    """The results of one machine and one revision in `folder`."""

    folder: Path
    revision: str

    @property
    def _file(self) -> Path:
        return self.folder / f"results-{self.revision[:12]}.json"

    def read(self) -> dict[str, Result]:
        """By step."""
        if not self._file.exists():
            return {}
        return {row["step"]: Result(**row) for row in json.loads(self._file.read_text())}

    def add(self, result: Result) -> None:
        rows = self.read() | {result.step: result}
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(".new")
        partial.write_text(json.dumps([asdict(row) for row in rows.values()], indent=1))
        partial.replace(self._file)


def read_tests(report: Path) -> dict[str, str]:
    """pytest's JUnit file: what became of each test; one that passed and then failed to clean up has failed."""
    if not report.exists():
        return {}
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        found[name] = max(_outcome(case), found.get(name, ""), key=_weight)
    return found


def _outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    return "passed" if skipped is None else f"skipped: {skipped.get('message', '')}"


def _weight(outcome: str) -> int:
    return ["", "passed", "skipped", "failed"].index(outcome.partition(":")[0])
