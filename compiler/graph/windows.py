"""Windows along one dimension of a tensor, which overlap: what a convolution or a pooling reads.

A line is what the tensor has at one index of that dimension: a row of a picture, a pixel of a row, a sample. Window o
has `kernel` taps, and tap k of it is line

    o * stride + k * dilation - padding,

or `fill`, where there is no such line. Lines may `repeat`, so often each: window o of one line is line o // repeat, as
nearest neighbours make a picture larger. Windows in two dimensions are those of one, then of the other: rows of windows
of rows, then windows of their pixels.

Lines come one after the other, each once, and a window leaves with the line that is the last one it can reach, whether
that exists or not. Until then a line waits: `kept` of them at once, those that one window spans but the last, which
goes on as it comes. So three by three windows of a picture keep two rows and, of three rows, two pixels.

A line that repeats is kept from when it comes until it left for the last time.

Where the stride does not divide the number of lines, the last lines make a shorter row. What no window reads of these
is taken all the same, since whoever makes them passes them on.

Padded windows of as many rows as there are leave a row `late`. Where one tensor follows another, or the rows of one
row's pixels those of the next, the first row of the next is then taken while the last windows of this one leave: n
walks of m rows are n * m + 1. What waits of the last lines lies outside of the next windows, and what comes outside of
the last ones.
"""

from dataclasses import dataclass
from typing import NamedTuple

from compiler.errors import VerificationError


@dataclass(frozen=True, slots=True)
class Windows:
    """How an operation reads windows along its `axis`: loop `loop` is over the taps; None where there is one."""

    loop: int | None
    stride: int = 1
    dilation: int = 1
    padding: int = 0
    fill: float | int = 0.0
    repeat: int = 1


class Rows(NamedTuple):
    """Rows of a walk that are alike, from number `first` on: `rows` of them, of so many `phases`. In the first `phased`
    phases of the first `taking` of these a line comes; in `LineWalk.leaving` of [`low`, `high`) a window leaves.
    """

    first: int
    rows: int
    phases: int
    taking: int
    phased: int
    low: int
    high: int


class LineWalk(NamedTuple):
    """The lines of a tensor and the windows over them: how many there are of each, in which steps they pass.

    A step takes one line. `stride` steps, the *phases*, are a row; a window leaves in one phase of a row. Where lines
    repeat, a row is one line, which comes in the first of `repeat` phases and leaves in each.
    """

    lines: int
    windows: int
    kernel: int
    stride: int
    dilation: int
    padding: int
    repeat: int = 1

    @staticmethod
    def of(windows: Windows, lines: int, count: int, kernel: int) -> "LineWalk":
        """Of `count` windows over so many lines."""
        return LineWalk(lines, count, kernel, windows.stride, windows.dilation, windows.padding, windows.repeat)

    @property
    def span(self) -> int:
        """Lines from the first tap of a window to its last."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def kept(self) -> int:
        """Lines that wait at once."""
        return 1 if self.repeat > 1 else self.span - 1

    @property
    def phases(self) -> int:
        """Steps of a row."""
        return self.stride * self.repeat

    @property
    def first_row(self) -> int:
        """The row in which the first window leaves."""
        return (self.span - 1 - self.padding) // self.stride

    @property
    def phase(self) -> int:
        """The phase in which windows leave."""
        return (self.span - 1 - self.padding) % self.stride

    @property
    def leaving(self) -> range:
        """Phases in which windows leave."""
        return range(self.phase, self.phase + self.repeat)

    @property
    def parts(self) -> tuple[Rows, ...]:
        """The rows until all lines have come and all windows have left: one part, or two where lines are left over
        behind the last whole row.
        """
        if self.repeat > 1:
            return (Rows(0, self.lines, self.repeat, self.lines, 1, 0, self.lines),)
        whole, rest = divmod(self.lines, self.stride)
        end = self.first_row + self.windows
        if not rest:
            return (self._rows(0, max(whole, end), whole, self.stride),)
        behind = self._rows(whole, max(whole + 1, end), 1, rest)
        return (self._rows(0, whole, whole, self.stride), behind) if whole else (behind,)

    def _rows(self, first: int, end: int, taking: int, phased: int) -> Rows:
        """Those from `first` to before `end`; a single one ends with what happens last in it."""
        low, high = (min(max(n - first, 0), end - first) for n in (self.first_row, self.first_row + self.windows))
        single = max(phased, self.phase + 1 if high > low else 0)
        return Rows(first, end - first, single if end - first == 1 else self.stride, taking, phased, low, high)

    @property
    def late(self) -> int:
        """1 where a window leaves in every row behind the first, and in one behind the last: the next walk can then
        follow a row earlier. Else 0.
        """
        if self.repeat > 1 or self.lines % self.stride or self.lines // self.stride < 2:
            return 0
        return int(self.first_row == 1 and self.windows == self.lines // self.stride)

    @property
    def begins_outside(self) -> bool:
        """Whether a window begins in front of the first line."""
        return self.padding > 0

    @property
    def behind(self) -> int:
        """Lines that the last window reaches behind the last line."""
        return max(0, (self.windows - 1) * self.stride + self.span - self.padding - self.lines * self.repeat)

    @property
    def ends_outside(self) -> bool:
        """Whether a window ends behind the last line."""
        return self.behind > 0

    def flaw(self) -> str:
        """What forbids such windows; empty where nothing does."""
        if min(self.lines, self.windows, self.kernel, self.stride, self.dilation, self.repeat) < 1 or self.padding < 0:
            return "lines, windows, kernel, stride, dilation and repeat must be at least 1, and the padding at least 0"
        if self.repeat > 1 and self != LineWalk(self.lines, self.lines * self.repeat, 1, 1, 1, 0, self.repeat):
            return f"lines that repeat {self.repeat} times have as many windows of one each"
        if self.padding >= self.span:
            return f"a padding of {self.padding} makes windows of {self.span} lines that lie outside of all lines"
        last = (self.windows - 1) * self.stride - self.padding
        if last >= self.lines * self.repeat:
            return f"the last of {self.windows} windows begins at {last}, behind all {self.lines} lines"
        return ""

    def verify(self, where: str) -> None:
        """Raise VerificationError where there are no such windows."""
        if flaw := self.flaw():
            raise VerificationError(f"{where}: {flaw}")
