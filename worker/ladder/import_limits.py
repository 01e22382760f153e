"""What an import asks of a node: the table's figures, and more for a network whose size is known to need more."""

from dataclasses import replace

from compiler.errors import MillraceError
from compiler.frontend.inputs.source import is_format
from compiler.frontend.models.config import config_from_fields, imported_parameters
from db import models
from worker.limits.table import GB, Limits, limits_of
from worker.settings import Settings

_MEMORY_A_BYTE, _MORE_GB = 2.5, 1.0
"""The importer holds the weights about twice, beside its libraries."""
_SECONDS_A_GB = 150.0
"""Three times what a machine with two slow cores took for each GB of weights."""


def import_limits(workload: models.Workload, settings: Settings) -> Limits:
    """Of the build that imports the workload."""
    limits, weights = limits_of("lower", settings), weight_bytes(workload) / GB
    return replace(
        limits,
        memory_gb=round(max(limits.memory_gb, _MEMORY_A_BYTE * weights + _MORE_GB), 1),
        timeout_s=round(max(limits.timeout_s, _SECONDS_A_GB * weights)),
    )


def weight_bytes(workload: models.Workload) -> int:
    """Bytes of the weights that are imported, as f32, or of the file that holds them."""
    model = workload.model
    if is_format(model.kind):
        return int(model.config.get("size", 0))
    try:
        return 4 * imported_parameters(config_from_fields(model.config), workload.phase, workload.layers)
    except MillraceError:  # the import says what is wrong with it
        return 0
