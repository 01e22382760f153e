"""The board that a build is made for, with the area model that its options choose."""

from collections.abc import Mapping
from typing import Any

from compiler.platforms.platform import Platform, load_platform
from worker.farm import Farm


def platform_of(farm: Farm, name: str, options: Mapping[str, Any]) -> Platform:
    """The platform as shipped, or with the calibration of the store that `options["area_model"]` names by its digest.

    Raises InvalidInputError, StoreError.
    """
    digest = options.get("area_model")
    return load_platform(name, farm.store.path(digest) if digest else None)
