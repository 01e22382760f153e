"""Outputs of one run that are inputs of the next."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Carry:
    """Output `output` is tensor `input` of the next run (`Value.source`), or the next row of it. `relayout`: its bytes
    are not where that run reads them, so the host lays them out anew in between.
    """

    output: str
    input: str
    relayout: bool
