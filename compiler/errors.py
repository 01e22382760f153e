"""Errors of the compiler: one root, each carries what a person needs to act."""

from dataclasses import dataclass


class MillraceError(Exception):
    """Root of every error that the compiler raises on purpose. The text says what failed and what to do."""


class InvalidInputError(MillraceError):
    """The caller's model, workload, platform or knobs are not acceptable."""


class UnsupportedError(MillraceError):
    """The network holds something that Millrace can not compile; the text names it and where it is."""


class VerificationError(MillraceError):
    """An IR or graph invariant does not hold: a defect in a pass, never in the user's model."""


class ToolError(MillraceError):
    """An external tool (g++, torch-mlir in its subprocess, Vitis) failed; the text carries the end of its output."""


class ImporterCrashError(ToolError):
    """The importer broke down on this network, and would again."""


class ReportError(MillraceError):
    """A file is not the tool report that it should be: foreign, truncated or too large.

    The text names the file, what it starts with and what to give instead.
    """


@dataclass(frozen=True, slots=True)
class Violation:
    """How far a design exceeds one budget: `demand` and `bound` in the same unit."""

    resource: str
    demand: float
    bound: float

    @property
    def text(self) -> str:
        """In words: "hbm_ports 46 of 32"."""
        return f"{self.resource} {self.demand:,.0f} of {self.bound:,.0f}"

    @property
    def excess(self) -> float:
        """Relative excess, 0 when the budget holds."""
        return max(0.0, self.demand / self.bound - 1.0) if self.bound > 0 else float(self.demand > 0)
