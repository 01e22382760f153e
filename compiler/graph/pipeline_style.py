"""Pipelines as `#pragma HLS pipeline style=` names them, and which of them a task can not have.

| style | a pipeline that waits for input | what HLS asks of it |
|---|---|---|
| stp | stops with all that it holds | nothing |
| flp | lets out what it holds | a function, says UG1448 (2024.1); reports of 2024.2 have `yes(flp)` on loops, too |
| frp | runs on, with FIFOs at its outputs | what follows |

HLS drops frp, with a message in its log, where the pipeline (AMD UG1448 2026.1, "Free Running Pipeline", but the first)

- reads and writes more streams than a threshold, 20 (200-1553, the log of a real run with 2023.2);
- accesses an m_axi or AXI-Lite port (200-1972), which has no place in UG1448's "usage constraints" of frp either;
- reads a top-level stream behind its first II (200-1960), or shares one (200-1962);
- accesses a stream without blocking (200-1964), or has a registered FIFO port (200-1970);
- has an II as long as its depth (200-1965);
- locks or writes a stream_of_blocks (200-1966, 200-1969);
- is called from a pipelined function (200-1967);
- reads under a condition that its first stage can not evaluate (200-1968);
- calls a function that is not inlined (200-1973);
- has no blocking access at all (200-1975): frp would gain nothing.

What we emit does only the first two: its tasks are called from a dataflow region, read and write internal streams
blocking and under conditions on their counters, use no stream_of_blocks, and inline what they call. The depth is known
to synthesis alone. So frp is refused here for those two, and for the others csynth has the last word.
"""

from typing import Literal

PipelineStyle = Literal["stp", "flp", "frp"]
MOST_FREE_RUNNING_STREAMS = 20


def style_flaw(style: PipelineStyle, streams: int, has_memory_port: bool) -> str | None:
    """Why a task with so many streams, with or without a port to memory, can not have the style; None where it can."""
    if style != "frp":
        return None
    if has_memory_port:
        return "HLS drops frp where a pipeline has an m_axi port (200-1972); name flp or stp"
    if streams > MOST_FREE_RUNNING_STREAMS:
        most = f"more than {MOST_FREE_RUNNING_STREAMS} streams (200-1553), it has {streams}"
        return f"HLS drops frp where a pipeline has {most}; name flp or stp"
    return None
