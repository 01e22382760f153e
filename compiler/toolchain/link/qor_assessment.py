"""`qor_assessment_*` (report_qor_assessment): Vivado's guess, hours before the end of a link, of its timing.

The score runs from 1 to 5 (AMD UG906): at 1 or 2 a link is not worth its remaining hours.
"""

import re
from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.link.vivado_header import section_table, vivado_header, written_by
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import number
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

HOPELESS = 2
MEANING = {
    1: "the implementation will likely not complete",
    2: "the implementation will complete, timing will not be met",
    3: "timing will likely not be met",
    4: "timing will likely be met",
    5: "timing will be met",
}
_SCORE = re.compile(r"([1-5])(?:\.\d+)? - (\S.*)")


@dataclass(frozen=True, slots=True)
class Finding:
    """A row that Vivado marks REVIEW; `threshold` and `actual` are as written ("<2.00", "-1.107")."""

    name: str
    threshold: str
    actual: str


@dataclass(frozen=True, slots=True)
class QorAssessment:
    """`said` is Vivado's sentence; `scores` are those by category ("Timing" -> 2.0); `state` is the stage it looked at.

    A score of 1 or 2 is a failure of kind "timing", so that a link can be stopped on it.
    """

    score: int
    said: str
    state: str
    tool_version: str
    scores: dict[str, float]
    review: tuple[Finding, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def stop(self) -> bool:
        """Whether a link that shows this should be stopped."""
        return self.score <= HOPELESS

    def metrics(self) -> tuple[Metric, ...]:
        return metric_table({"qor_score": (self.score, "of 5")}, Fidelity.LINK, "vivado", self.tool_version)


def is_qor_assessment(source: Source) -> bool:
    return written_by(source, "report_qor_assessment")


def parse_qor_assessment(source: Source) -> QorAssessment:
    """Raises ReportError for another file and for one that is cut before the details end."""
    if not is_qor_assessment(source):
        raise source.foreign("a QoR assessment", "qor_assessment_post_opt_design.rpt of the v++ link")
    header = vivado_header(source)
    summary = section_table(source, "Overall Assessment Summary")
    match = _SCORE.match(summary.columns[-1])
    if len(summary.columns) != 2 or not match:
        raise source.truncated("the summary has no score from 1 to 5")
    score = int(match[1])
    scores, review = _details(source)
    failures = (_hopeless(score, match[2]),) if score <= HOPELESS else ()
    return QorAssessment(score, match[2].strip(), header.state, header.tool_version, scores, review, failures)


def _hopeless(score: int, said: str) -> Failure:
    lever = "stop the link; ask for a lower clock, or a design with shorter paths (more pipeline stages, fewer dies)"
    return Failure("timing", f"Vivado expects that {MEANING[score]} (score {score} of 5: {said.strip()})", "", lever)


def _details(source: Source) -> tuple[dict[str, float], tuple[Finding, ...]]:
    table = section_table(source, "QoR Assessment Details")
    if not {"Name", "Threshold", "Actual", "Score", "Status"} <= set(table.columns):
        raise source.truncated("the details have no columns Name, Threshold, Actual, Score, Status")
    records = table.records()
    values = {record["Name"]: number(source, record["Score"], f"the score of {record['Name']}") for record in records}
    review = tuple(
        Finding(record["Name"].removeprefix("*").strip(), record["Threshold"], record["Actual"])
        for record in records
        if record["Status"] == "REVIEW"
    )
    return {name: value for name, value in values.items() if value is not None}, review
