"""What Vitis HLS says of a pipeline's style in its log: whether it is free-running (frp), and if not, why not.

No message tells a flushable pipeline (flp) from a stalling one (stp); reports of 2024.2 do (`csynth.style_of`). Where
each text is from:

| message | from |
|---|---|
| 200-1552, 200-1553 | a real log: Prometheus atax, 2023.2 |
| 200-1960, 1962, 1964 to 1970, 1972, 1973, 1975, 1976 | AMD UG1448 2026.1, "Free Running Pipeline" |
| 200-1961, 1963, 1971, 1974 | none was found; they are read if they are worded like the others |
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from compiler.toolchain.logs.messages import Message

_SAID = re.compile(
    r"(Enabling|Disabling) free running pipeline \(frp\) architecture on pipeline '([^']*)' in module '([^']*)'"
    r"(?:,? because (.*))?"
)
_NUMBER = re.compile(r"200-(\d{1,5})$")
_CODES = frozenset({1552, 1553, *range(1960, 1977)})

# What to do where frp is named and HLS drops it, by message (what UG1448 advises); 200-1553 names its cause itself.
LEVERS: Mapping[int, str] = {
    1960: "raise the task's II, so that it reads within the first one",
    1962: "let one pipeline alone use a stream of the kernel's interface",
    1964: "read and write streams blocking",
    1965: "let the II be less than the pipeline's depth",
    1966: "use no stream_of_blocks in the task",
    1967: "call the task from a dataflow region",
    1968: "let a read depend on loop counters alone",
    1969: "use no stream_of_blocks in the task",
    1970: "use no registered FIFO port in the task",
    1972: "let a task of its own, of style flp or stp, use the memory port, and pass the data on by a stream",
    1973: "inline the functions that the pipeline calls",
}


@dataclass(frozen=True, slots=True)
class PipelineSaid:
    """One message. `free_running`: frp was built; not: it was dropped, `because` in the tool's words."""

    module: str
    pipeline: str
    free_running: bool
    number: int
    because: str

    @property
    def code(self) -> str:
        return f"[HLS 200-{self.number}]"


def pipelines_said(found: Iterable[Message]) -> Iterator[PipelineSaid]:
    """In the order of the log. Severity and prefix of the code differ by release, so that they do not count."""
    for message in found:
        number, said = _NUMBER.search(message.code), _SAID.match(message.text)
        if number and said and int(number[1]) in _CODES:
            enabled = said[1] == "Enabling"
            yield PipelineSaid(said[3], said[2], enabled, int(number[1]), (said[4] or "").rstrip("."))
