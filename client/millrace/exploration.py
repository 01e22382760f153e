"""An exploration: started, followed, and looked at."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from millrace import wire
from millrace.client import Client
from millrace.design import Design
from millrace.errors import ConflictError, FailedError, UsageError
from millrace.front import Front
from millrace.module import ModuleFormat, export_module, is_module
from millrace.progress import Progress
from millrace.states import ENDED
from millrace.table import Table
from millrace.unset import UNSET, Unset

if TYPE_CHECKING:
    import pandas

_FILES = frozenset({".json", ".onnx", ".mlir", ".pt2"})


class Exploration:
    """One search, on a service. `reply` is what the service said of it last."""

    def __init__(self, client: Client, reply: wire.Exploration) -> None:
        self.client = client
        self.reply = reply
        self._table: Table | None = None

    @property
    def id(self) -> str:
        return self.reply.id

    @property
    def state(self) -> str:
        return self.reply.state

    def refresh(self) -> Exploration:
        """Ask how it stands."""
        self.reply = self.client.exploration(self.id)
        return self

    def wait(self, *, quiet: bool = False) -> Exploration:
        """Follow it until it has ended, with a progress bar unless `quiet`. Raises FailedError where it fails."""
        bar, evaluated, state = Progress(self.reply.budget, quiet=quiet), 0, self.state
        try:
            for event in self.client.events(self.id):
                if event.kind == "designs":
                    evaluated += len(event.data["id"])
                elif event.kind == "state":
                    state = event.data["state"]
                bar.show(evaluated, state)
        finally:
            bar.close()
        if self.refresh().state == "failed":
            raise FailedError(f"exploration {self.id} failed: {self.reply.error}")
        return self

    def cancel(self) -> Exploration:
        """Stop it; its designs are kept."""
        self.reply = self.client.cancel(self.id)
        return self

    def resume(self) -> Exploration:
        """Go on with it."""
        self.reply = self.client.resume(self.id)
        self._table = None
        return self

    def table(self) -> Table:
        """All designs with all metrics, resources and knobs: one request, and none again once it has ended."""
        if self._table is not None:
            return self._table
        ended = self.state in ENDED
        table = Table(self.client.table(self.id))
        if ended:
            self._table = table
        return table

    def reload(self) -> Exploration:
        """Ask for its designs again: simulations and builds that were started since have added to them."""
        self._table = None
        return self.refresh()

    def df(self) -> pandas.DataFrame:
        """All designs as a pandas DataFrame; `attrs` has units and fidelities. Raises MissingExtraError."""
        return self.table().df()

    def front(self) -> Front:
        """The Pareto front by estimate, fastest first."""
        return Front(self.client, self.table())

    def designs(self, **filters: Any) -> list[Design]:
        """Those that meet all conditions, in order of evaluation: `designs(feasible=True, lut__lt=0.4)`.

        Conditions are named like the columns of `df()`, with __lt, __le, __gt, __ge, __ne or __in. Raises UsageError.
        """
        table = self.table()
        return [Design(self.client, table.row(place)) for place in table.where(**filters)]

    def best(self, by: str = "latency_us", **filters: Any) -> Design:
        """The feasible design with the least `by` that meets all conditions, as in `designs`.

        Raises FailedError where there is none, UsageError for a column that there is not.
        """
        table = self.table()
        place = table.best(by, **{"feasible": True, **filters})
        if place is None:
            raise FailedError(f"none of the {len(table)} designs of {self.id} has {by} and meets {filters or 'budget'}")
        return Design(self.client, table.row(place))

    def __repr__(self) -> str:
        reply = self.reply
        found = f"{reply.evaluated}/{reply.budget} designs, front {reply.front_size}"
        return f"<Exploration {self.id} of {reply.model.name} on {reply.platform}: {reply.state}, {found}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.front()._repr_html_()}"  # pyright: ignore[reportPrivateUsage] # IPython's name


def explore(
    model: Any,
    inputs: tuple[Any, ...] | None = None,
    *,
    server: str | Client | None = None,
    key: str | None = None,
    name: str | None = None,
    form: ModuleFormat = "onnx",
    phase: str | Unset = UNSET,
    length: int | Unset = UNSET,
    precision: str | Unset = UNSET,
    layers: int | Unset = UNSET,
    platform: str | Unset = UNSET,
    budget: int | Unset = UNSET,
    seed: int | Unset = UNSET,
    sampler: str | Unset = UNSET,
    simulate: int | Unset = UNSET,
    calibration: int | Unset = UNSET,
    verify: int | Unset = UNSET,
    priority: str | Unset = UNSET,
    builds: Mapping[str, int] | Unset = UNSET,
    vitis: str | Unset = UNSET,
    board: str | Unset = UNSET,
    area_model: str | Unset = UNSET,
) -> Exploration:
    """Start to explore `model`: a built-in or stored model's name, the path of a config.json, .onnx, .mlir or .pt2, or
    a PyTorch module with its `inputs`, which is exported as `form` first.

    `server` is the address of a service or a `Client`, without it MILLRACE_SERVER or this machine's; `key` is for a new
    client. `name` is what the service is to call a file. The others are those of `millrace.wire.NewExploration` and of
    its workload; `builds` is like {"csynth": 8, "link": 2}. What is not given is as the service has it.

    Raises ProblemError for what the service refuses, UsageError for a file that there is not, MissingExtraError.
    """
    client = server if isinstance(server, Client) else Client(server, key=key)
    request: dict[str, Any] = {
        "workload": _chosen(wire.NewWorkloadShape, phase=phase, length=length, precision=precision, layers=layers),
        "builds": _chosen(wire.BuildBudget, **(builds or {})),
    }
    request |= {"platform": platform, "budget": budget, "seed": seed, "sampler": sampler, "priority": priority}
    request |= {"simulate": simulate, "calibration": calibration, "verify": verify}
    request |= {"vitis": vitis, "board": board, "area_model": area_model}
    with TemporaryDirectory() as folder:
        reference = _reference(client, _file_of(model, inputs, Path(folder), form), name)
    return Exploration(client, client.start_exploration(wire.NewExploration(model=reference, **request), str(uuid4())))


def find(id: str, *, server: str | Client | None = None, key: str | None = None) -> Exploration:
    """An exploration that was started before, by its id or the beginning of it, its name, or `latest`."""
    client = server if isinstance(server, Client) else Client(server, key=key)
    return Exploration(client, client.exploration(id))


def _chosen(kind: type[Any], **values: Any) -> Any:
    """A part of a request, UNSET where nothing of it is chosen. Raises UsageError for what it does not have."""
    if unknown := set(values) - set(kind.__dataclass_fields__):
        raise UsageError(f"there is no {min(unknown)!r}; there are {', '.join(kind.__dataclass_fields__)}")
    return UNSET if all(value is UNSET for value in values.values()) else kind(**values)


def _file_of(model: Any, inputs: tuple[Any, ...] | None, folder: Path, form: ModuleFormat) -> str | Path:
    """A name, or the path of a file."""
    if is_module(model):
        if inputs is None:
            raise UsageError("name the module's inputs: explore(module, (x,))")
        out = folder / f"{type(model).__name__}.{form}"
        export_module(model, inputs, out, form)
        return out
    path = Path(model)
    return path if path.suffix in _FILES or path.exists() else str(model)


def _reference(client: Client, model: str | Path, name: str | None) -> str:
    """What the service calls the model; a file is stored first. Raises UsageError where there is no such file."""
    if isinstance(model, str):
        return model
    path = model / "config.json" if model.is_dir() else model
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    stem = path.resolve().parent.name if path.name == "config.json" else path.stem
    plain = re.sub(r"[^A-Za-z0-9._+-]", "_", name or stem).lstrip("._+-")[:80] or "model"
    try:
        return client.add_model(path, plain).id
    except ConflictError:
        if name is not None:
            raise
        # Another network was called so before: a file that changes from run to run is told by its content.
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        return client.add_model(path, f"{plain}-{digest}").id
