"""What a designer wants a design to use at most, where the board offers more."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from compiler.errors import InvalidInputError, Violation
from compiler.platforms.platform import Budget, Platform

if TYPE_CHECKING:  # commands and the service, which only say bounds, load no compiler
    from dse.evaluate import Evaluation

PORTS = "hbm_ports"
RESOURCES = tuple(field.name for field in fields(Budget))
"""What can be bounded: the resources of a die in percent of what the board offers a design, HBM ports by their number.
"""


def text(at_most: Mapping[str, float]) -> str:
    """In words: "lut 40 %, hbm_ports 8"; empty for all of the board."""
    return ", ".join(f"{name} {most:g}{'' if name == PORTS else ' %'}" for name, most in at_most.items())


def amounts(at_most: Mapping[str, float], platform: Platform) -> dict[str, float]:
    """The bounds in units of the resource. Raises InvalidInputError for another resource, or none of it."""
    if unknown := set(at_most) - set(RESOURCES):
        raise InvalidInputError(f"no bound for {', '.join(sorted(unknown))}; there is one for {', '.join(RESOURCES)}")
    if low := {name: value for name, value in at_most.items() if not value > 0}:
        raise InvalidInputError(f"a design uses more than {', '.join(f'{v:g} of {n}' for n, v in low.items())}")
    return {
        name: value if name == PORTS else value / 100 * getattr(platform.budget, name)
        for name, value in at_most.items()
    }


def bounded(found: "Evaluation", most: Mapping[str, float]) -> "Evaluation":
    """The evaluation with a violation for each of these `amounts` that it exceeds, in place of one of the board's that
    allows more. A design that can not be built stays as it is.
    """
    if not most:
        return found
    used = {metric.name: metric.value for metric in found.metrics}
    known = {violation.resource: violation for violation in found.violations}
    for name, bound in most.items():
        if used.get(name, 0.0) > bound and (name not in known or bound < known[name].bound):
            known[name] = Violation(name, used[name], bound)
    return replace(found, violations=tuple(known.values()))
