"""Values that can not be, looked for where metrics are stored (design section 4)."""

from collections.abc import Iterable
from typing import Any

from compiler.analysis.limits import impossible
from compiler.metrics import Metric
from compiler.platforms.platform import Platform


def flags_of(metrics: Iterable[Metric], platform: Platform) -> list[dict[str, Any]]:
    """What of the metrics of one design can not be, with the limit that it breaks; as the column `flags` keeps it."""
    return [flag.to_json() for flag in impossible(tuple(metrics), platform)]
