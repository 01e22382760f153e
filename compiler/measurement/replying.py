"""What whole replies take on a board, by the host's clock: the starts of kernels are in it, none is assumed.

A reply in one launch is timed up to its first token, and as a whole. What its start costs is what a launch of the last
token alone takes longer than each token of a launch that makes `TAIL` more before it. Where each token is a launch of
all kernels, each is timed, with its starts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import median

from compiler.assumed import KERNEL_START
from compiler.design_dir import LEAST_BYTES, read_design
from compiler.host.design import Design, load_design
from compiler.host.session import CHOOSE, FIRST, POSITION, TOKEN, UNTIL
from compiler.measurement.board_process import BoardProcess
from compiler.measurement.measurement import XRT
from compiler.measurement.progress import Progress
from compiler.measurement.subject import Subject
from compiler.metrics import Fidelity, Metric
from compiler.whole_token import Lengths, Reply

REPEATS = 7  # of each launch, the median of which counts
TAIL = 8
NAME = "replies"
Launch = Callable[[Mapping[str, int]], float]
"""Microseconds of a launch that is told this."""


def measure_replies(
    board: BoardProcess, subject: Subject, limit_s: float, progress: Progress, version: str
) -> tuple[Metric, ...]:
    """Metrics of a design that chooses tokens; none of another. It leaves other keys and values on the board than the
    design's test data has. Raises BoardProcessError.
    """
    least = read_design(subject.directory).get(LEAST_BYTES)
    if least is None:
        return ()
    design, found = load_design(subject.directory), subject.estimates
    times = timed(design, board, limit_s, progress)
    reply = Reply(
        len(design.kernels),
        times.prompt_us,
        times.later_us,
        found["energy"],
        least,
        subject.platform.power.static_w,
        times.one_launch,
        times.start_us or 0.0,
        Fidelity.BOARD,
    )
    start = None if times.start_us is None else Metric(KERNEL_START, times.start_us / 1e3, "ms", Fidelity.BOARD)
    return tuple(replace(m, tool=XRT, tool_version=version) for m in (*reply.timed, *([start] if start else [])))


@dataclass(frozen=True, slots=True)
class Times:
    """As `Reply` has them; `start_us` is None where it is not known, and in the other times."""

    prompt_us: tuple[float, ...]
    later_us: tuple[float, ...]
    one_launch: bool
    start_us: float | None


def timed(design: Design, board: BoardProcess, limit_s: float, progress: Progress) -> Times:
    """Of the lengths by which a design of so many positions is measured. Raises BoardProcessError."""
    positions = design.arguments[POSITION] + 1
    lengths, words = Lengths.within(positions), design.arguments[TOKEN] + 1
    tokens = [(7 * place + 3) % words for place in range(lengths.prompt)]
    board.prompt(tokens, positions)

    def launch(told: Mapping[str, int]) -> float:
        known = {TOKEN: tokens[0], **told}
        return board.launch({name: known[name] for name in known if name in design.arguments}, limit_s) / 1e3

    if FIRST in design.arguments:
        return _of_one_launch(launch, lengths, positions - 1, progress)
    progress.begin(NAME, sum(lengths), "runs")
    each = [
        launch({POSITION: place, UNTIL: place, CHOOSE: int(place >= lengths.prompt - 1)})
        for place in range(sum(lengths))
    ]
    progress.at(NAME, len(each), len(each))
    return Times(tuple(each[: lengths.prompt]), tuple(each[lengths.prompt :]), False, None)


def _of_one_launch(launch: Launch, lengths: Lengths, last: int, progress: Progress) -> Times:
    prompt, steps = lengths
    end = prompt - 1
    tail = min(TAIL, last)
    replies = ((0, end, end), (0, end, end + steps), (last, last, last), (last - tail, last - tail, last))
    progress.begin(NAME, len(replies) * REPEATS, "runs")
    medians: list[float] = []
    for position, first, until in replies:
        told = {POSITION: position, FIRST: first, UNTIL: until}
        medians.append(median(launch(told) for _ in range(REPEATS)))
        progress.at(NAME, len(medians) * REPEATS, len(replies) * REPEATS)
    to_first, whole, one, several = medians
    start = max(0.0, one - (several - one) / tail)
    return Times((max(0.0, to_first - start),), ((whole - to_first) / steps,) * steps, True, start)
