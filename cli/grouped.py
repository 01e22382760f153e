"""Options that belong together, as one value: Typer makes an option only of a parameter of its own."""

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer reads it: a parameter whose type is a dataclass is an option for each of its fields."""
    asked = signature(command).parameters
    groups: dict[str, Any] = {name: p.annotation for name, p in asked.items() if is_dataclass(p.annotation)}
    options = {name: tuple(signature(group).parameters.values()) for name, group in groups.items()}

    @wraps(command)
    def flat(**given: Any) -> None:
        values = {name: group(**{o.name: given.pop(o.name) for o in options[name]}) for name, group in groups.items()}
        command(**given, **values)

    shown = [o.replace(kind=Parameter.KEYWORD_ONLY) for name, p in asked.items() for o in options.get(name, (p,))]
    flat.__dict__["__signature__"] = signature(command).replace(parameters=shown)
    flat.__annotations__ = {o.name: o.annotation for o in shown}
    return flat
