"""What a designer wants a design to use at most, where the board offers more, and take at most."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from compiler.errors import InvalidInputError, Violation
from compiler.metrics import Metric
from compiler.platforms.platform import Budget, Platform
from dse.objectives import OBJECTIVES

if TYPE_CHECKING:  # commands and the service, which only say bounds, load no compiler
    from dse.evaluate import Evaluation

PORTS, DIES = "hbm_ports", "dies"
RESOURCES = tuple(field.name for field in fields(Budget))
"""Those of a die are bounded in percent of what the board offers a design, HBM ports by their number."""
METRICS = tuple(name for name in OBJECTIVES if name not in RESOURCES)
"""Bounded by estimate, in their own unit."""
BOUNDED = (*RESOURCES, DIES, *METRICS)
"""What can be bounded. Of dies one: a design lies whole on the die that has the HBM, so that no stream leaves it."""


def unit(name: str) -> str:
    """Of its bound."""
    if name in METRICS:
        return OBJECTIVES[name].unit
    return "" if name in (PORTS, DIES) else "%"


def text(at_most: Mapping[str, float]) -> str:
    """In words: "lut 40 %, hbm_ports 8, energy 400 uJ"; empty for all of the board."""
    return ", ".join(f"{name} {most:g} {unit(name)}".rstrip() for name, most in at_most.items())


def amounts(at_most: Mapping[str, float], platform: Platform) -> dict[str, float]:
    """The bounds in units of the metrics. Raises InvalidInputError for what has none, and for none of something."""
    if unknown := set(at_most) - set(BOUNDED):
        raise InvalidInputError(f"no bound for {', '.join(sorted(unknown))}; there is one for {', '.join(BOUNDED)}")
    if low := {name: value for name, value in at_most.items() if not value > 0}:
        raise InvalidInputError(f"a design uses more than {', '.join(f'{v:g} of {n}' for n, v in low.items())}")
    if at_most.get(DIES, 1) != 1:
        raise InvalidInputError(f"a design can be bounded to 1 die, not to {at_most[DIES]:g}")
    found = _on_one_die(platform) if DIES in at_most else {}
    for name, most in at_most.items():
        if name != DIES:
            amount = most if name in (PORTS, *METRICS) else most / 100 * getattr(platform.budget, name)
            found[name] = min(amount, found.get(name, amount))
    return found


def resources(at_most: Mapping[str, float], platform: Platform) -> dict[str, float]:
    """The `amounts` of what the board has, which are known better once FIFOs are certified."""
    return {name: most for name, most in amounts(at_most, platform).items() if name in RESOURCES}


def _on_one_die(platform: Platform) -> dict[str, float]:
    """What holds on the die that has the HBM."""
    home = next(slr for slr in platform.dies.slrs if slr.hbm)
    return {name: platform.dies.fill * getattr(home, name) for name in RESOURCES if name != PORTS}


def bounded(found: "Evaluation", most: Mapping[str, float]) -> "Evaluation":
    """The evaluation with what it `exceeded` of these `amounts`. A design that can not be built stays as it is."""
    return replace(found, violations=exceeded(found.metrics, found.violations, most)) if most else found


def exceeded(
    metrics: Sequence[Metric], violations: Sequence[Violation], most: Mapping[str, float]
) -> tuple[Violation, ...]:
    """The violations, with one for each of these `amounts` that the metrics exceed, in place of one of the board's that
    allows more.
    """
    used = {metric.name: metric.value for metric in metrics}
    known = {violation.resource: violation for violation in violations}
    for name, bound in most.items():
        if used.get(name, 0.0) > bound and (name not in known or bound < known[name].bound):
            known[name] = Violation(name, used[name], bound)
    return tuple(known.values())
