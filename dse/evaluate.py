"""One rung of the fidelity ladder: the estimate of one design (design section 4)."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol

from compiler.analysis.estimate import estimate
from compiler.analysis.placement.assign import ANY
from compiler.analysis.placement.board_plan import placed
from compiler.errors import MillraceError, ToolError, Violation
from compiler.graph.accelerator import accelerator_digest, plan_digest
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph
from compiler.metrics import Metric
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks, unsized
from compiler.passes.size_fifos import SizeFifos
from compiler.platforms.platform import Platform
from dse.objectives import DEFAULT


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is known of a design. One that can not be built has no metrics; `reason` says why.

    A design over budget has metrics and the violations. `placed`: it is known to have a placement on the dies;
    a feasible one that is not has to be `judged` before it enters a front. `accelerator`: digest of what is built, to
    which other knobs may lead too; None where nothing can be, and in designs from before it was kept. `seconds` is the
    time the evaluation took.
    """

    knobs: Knobs
    metrics: tuple[Metric, ...] = ()
    violations: tuple[Violation, ...] = ()
    reason: str | None = None
    placed: bool = True
    accelerator: str | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def priced(self) -> bool:
        """It can be built."""
        return bool(self.metrics)

    @property
    def feasible(self) -> bool:
        """It can be built and holds every budget."""
        return self.priced and not self.violations

    def objectives(self, names: Sequence[str] = DEFAULT) -> tuple[float, ...]:
        """These metrics of a priced design, in their order (`dse.objectives`). Raises KeyError for one that it has not:
        an earlier release priced it.
        """
        values = {metric.name: metric.value for metric in self.metrics}
        return tuple(values[name] for name in names)


class Evaluator(Protocol):
    """How a search evaluates a design."""

    def __call__(
        self, graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()
    ) -> Evaluation: ...


def evaluate(graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> Evaluation:
    """Plan the design and estimate it. An accelerator of `known` is not: it has neither metrics nor a reason.

    What the compiler rejects on purpose (MillraceError) is an infeasible design with the reason. That a tool is missing
    (ToolError) says nothing of the design, and any other exception is a defect of ours: both pass through.
    """
    start = perf_counter()
    found = _estimated(graph, knobs, platform, known)
    return replace(found, seconds=perf_counter() - start)


_MOST_PLANS = 1 << 16
_accelerators: dict[bytes, str] = {}
"""Of plans that this process has met, by `_plan`."""


def _plan(design: Design, knobs: Knobs) -> bytes:
    """All that the accelerator follows from, before its FIFOs are sized."""
    return plan_digest(design) + repr([getattr(knobs, name) for name in SizeFifos.options]).encode()


def _remember(plan: bytes, accelerator: str) -> None:
    if len(_accelerators) >= _MOST_PLANS:
        _accelerators.clear()
    _accelerators[plan] = accelerator


def _estimated(graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str]) -> Evaluation:
    try:
        design = unsized(graph, knobs, platform)
        plan = _plan(design, knobs)
        met = _accelerators.get(plan)
        if met is not None and met in known:
            return Evaluation(knobs, accelerator=met)
        tasks = SizeFifos(knobs).sized(design)
        accelerator = accelerator_digest(tasks)
        _remember(plan, accelerator)
        if accelerator in known:
            return Evaluation(knobs, accelerator=accelerator)
        result = estimate(tasks, platform, graph)
    except ToolError:
        raise
    except MillraceError as error:
        return Evaluation(knobs, reason=str(error))
    return Evaluation(
        knobs,
        result.metrics,
        result.violations,
        placed=result.placed,
        accelerator=accelerator,
    )


def judged(found: Evaluation, graph: LinalgGraph, platform: Platform) -> Evaluation:
    """The evaluation of a feasible design once the exact placer has seen it (0.1 s): placed, or with what no placement
    holds as violations.
    """
    start = perf_counter()
    _, placement = placed(planned_tasks(graph, found.knobs, platform), platform, efforts=(ANY,))
    worst: dict[str, Violation] = {}
    for short in placement.shortfalls:
        name = short.resource if short.resource == "sll" else f"slr_{short.resource}"
        violation = Violation(name, short.demand, short.bound)
        if name not in worst or violation.excess > worst[name].excess:
            worst[name] = violation
    seconds = found.seconds + perf_counter() - start
    return replace(found, violations=tuple(worst.values()), placed=not worst, seconds=seconds)
