"""Pipelines of the C++ and what Vitis HLS says of their style, in the words of a real log (2023.2) and of UG1448."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vitis_standin.call import Call

LOOP = "VITIS_LOOP_10_1"
_FUNCTION = re.compile(r"^void (\w+)\(([^)]*)\) \{(.*?)^\}", re.DOTALL | re.MULTILINE)
_STYLE = re.compile(r"#pragma HLS pipeline .*?style=(\w+)")
_MOST_STREAMS = 20  # frp_stream_port_number of that log
_SAYS_STYLE = (2024, 2)  # first release of which reports with "yes(flp)" are published


@dataclass(frozen=True)
class Pipeline:
    """`module` is its function; `style` what it becomes, `reason` code and text of why that is not the one it names."""

    module: str
    style: str
    reason: tuple[str, str] | None = None

    def word(self, version: Sequence[int]) -> str:
        says = tuple(version) >= _SAYS_STYLE and self.style != "stp"
        return f"yes({self.style})" if says else "yes"


def find_pipelines(top: str, files: Iterable[Path], kind: str | None) -> list[Pipeline]:
    """Those of the functions that the kernel `top` calls. The fault `other_style` gives the first one another style."""
    functions = {m[1]: (m[2], m[3]) for f in files for m in _FUNCTION.finditer(f.read_text())}
    body = functions[top][1] if top in functions else ""
    found = [
        _built(name, style[1], arguments)
        for name, (arguments, code) in functions.items()
        if re.search(rf"\b{name}\(", body) and (style := _STYLE.search(code))
    ]
    if kind == "other_style" and found:
        found[0] = replace(found[0], style="stp" if found[0].style == "frp" else "frp")
    return found


def _built(name: str, style: str, arguments: str) -> Pipeline:
    streams, memory = arguments.count("stream<"), re.search(r"\*\s*(\w+)", arguments)
    if style == "frp" and memory:
        return Pipeline(name, "stp", ("200-1972", f"it has M_AXI or AXILite port: {memory[1]}"))
    if style == "frp" and streams > _MOST_STREAMS:
        text = f"the estimated Stream Port Number is {streams}, which is bigger than the frp_stream_port_number"
        return Pipeline(name, "stp", ("200-1553", f"{text} threshold of {_MOST_STREAMS}"))
    return Pipeline(name, style)


def say_styles(call: Call, pipelines: Iterable[Pipeline]) -> None:
    for pipeline in pipelines:
        where = f"pipeline '{LOOP}' in module '{pipeline.module}'"
        call.info(
            "HLS 200-1030",
            f"Apply Unified Pipeline Control on module '{pipeline.module}' pipeline '{LOOP}' pipeline type "
            "'loop pipeline'",
        )
        if pipeline.reason:
            code, text = pipeline.reason
            call.info(f"HLS {code}", f"Disabling free running pipeline (frp) architecture on {where}, because {text}.")
        elif pipeline.style == "frp":
            call.info(
                "HLS 200-1552",
                f"Enabling free running pipeline (frp) architecture on {where}. "
                "Estimated max control fanout for pipeline is 452.",
            )
