"""An exploration: started, followed, and looked at."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Mapping, Sequence
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
from millrace.module import ModuleFormat, check_form, export_module, is_module
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
        """The service's, like exp_01m84jyz17w77yc5sn."""
        return self.reply.id

    @property
    def name(self) -> str:
        """What it is called; `edit` changes it."""
        return self.reply.name

    @property
    def state(self) -> str:
        """How it stood at the last answer, as in `wire.Exploration`."""
        return self.reply.state

    def refresh(self) -> Exploration:
        """Ask how it stands."""
        self.reply = self.client.exploration(self.id)
        return self

    def wait(self, *, quiet: bool = False) -> Exploration:
        """Follow it until it has ended, with a progress bar unless `quiet`. Raises FailedError where it fails."""
        bar, evaluated, state = Progress(self.reply.budget, quiet=quiet), set[str](), self.state
        try:
            for event in self.client.events(self.id):
                if event.kind == "designs":
                    evaluated.update(event.data["id"])  # one that another island has found before is told of again
                elif event.kind == "state":
                    state = event.data["state"]
                bar.show(len(evaluated), state)
        finally:
            bar.close()
        if self.refresh().state == "failed":
            raise FailedError(f"exploration {self.id} failed: {self.reply.error}")
        return self

    def edit(
        self, *, name: str | Unset = UNSET, tags: Sequence[str] | Unset = UNSET, notes: str | Unset = UNSET
    ) -> Exploration:
        """Set what is given; `tags` replace all that it has.

        Raises InvalidInputError for what can be no name, ConflictError for a taken one, ForbiddenError, UsageError.
        """
        changes = wire.ExplorationChange(name=name, tags=_tag_list(tags), notes=notes)
        self.reply = self.client.change_exploration(self.id, changes)
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

    def front(self, **filters: Any) -> Front:
        """The Pareto front by estimate, by the first objective; with conditions as in `designs`, the front of the
        feasible designs that no simulation refutes and that meet them. Raises UsageError.
        """
        return Front(self.client, self.table(), **filters)

    def designs(self, **filters: Any) -> list[Design]:
        """Those that meet all conditions, in order of evaluation: `designs(feasible=True, lut__lt=0.4)`.

        Conditions are named like the columns of `df()`, with __lt, __le, __gt, __ge, __ne or __in. Raises UsageError.
        """
        table = self.table()
        return [Design(self.client, table.row(place)) for place in table.where(**filters)]

    def best(self, by: str = "latency_us", **filters: Any) -> Design:
        """The feasible design with the least `by` that no simulation refutes and that meets all conditions, as in
        `designs`.

        Raises FailedError where there is none, UsageError for a column that there is not.
        """
        table = self.table()
        place = table.best(by, **filters)
        if place is None:
            raise FailedError(f"none of the {len(table)} designs of {self.id} has {by} and meets {filters or 'budget'}")
        return Design(self.client, table.row(place))

    def __repr__(self) -> str:
        reply = self.reply
        found = f"{reply.evaluated}/{reply.budget} designs, front {reply.front_size}"
        return (
            f"<Exploration {reply.name} ({self.id}) of {reply.model.name} on {reply.platform}: {reply.state}, {found}>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.front()._repr_html_()}"  # pyright: ignore[reportPrivateUsage] # IPython's name


def explore(
    model: Any,
    inputs: tuple[Any, ...] | None = None,
    *,
    server: str | Client | None = None,
    key: str | None = None,
    model_name: str | None = None,
    samples: str | Path | None = None,
    form: ModuleFormat = "onnx",
    name: str | Unset = UNSET,
    tags: Sequence[str] | Unset = UNSET,
    notes: str | Unset = UNSET,
    phase: str | Unset = UNSET,
    length: int | Unset = UNSET,
    precision: str | Unset = UNSET,
    layers: int | Unset = UNSET,
    ports: str | Unset = UNSET,
    platform: str | Unset = UNSET,
    budget: int | Unset = UNSET,
    seed: int | Unset = UNSET,
    sampler: str | Unset = UNSET,
    islands: int | Unset = UNSET,
    objectives: Sequence[str] | Unset = UNSET,
    at_most: Mapping[str, float] | Unset = UNSET,
    simulate: int | Unset = UNSET,
    calibration: int | Unset = UNSET,
    verify: int | Unset = UNSET,
    priority: str | Unset = UNSET,
    builds: Mapping[str, int] | Unset = UNSET,
    vitis: str | Unset = UNSET,
    board: str | Unset = UNSET,
    area_model: str | Unset = UNSET,
    require_nodes: bool | Unset = UNSET,
) -> Exploration:
    """Start to explore `model`: a built-in or stored model's name, the path of a config.json, .onnx, .mlir or .pt2, or
    a PyTorch module with its `inputs`, which is exported as `form` first.

    `form` is "onnx" or "pt2"; a service takes pt2 only where its operator allows it (MILLRACE_ALLOW_PT2). `server` is
    the address of a service or a `Client`, without it MILLRACE_SERVER or this machine's; `key` is for a new client.
    `model_name` is what the service is to call a file, `samples` an .npz with an array of each input of its network, or
    many in a row, which w8a8 and w4a8 calibrate their scales with. The others are those of `wire.NewExploration` and of
    its workload, `wire.NewWorkloadShape`: `phase` and `length` are not for a network from a file, which has its shapes;
    `simulate` designs of the front are simulated and, for the error of the estimates, `calibration` others (4 where it
    is not given); `ports` "i8" makes inputs and results of a network in integers int8; `name`, `tags` (a list) and
    `notes` are the exploration's, `objectives` what it makes small, like ("latency", "energy", "area"), `builds` is
    like {"csynth": 8, "link": 2}, `at_most` like {"lut": 40, "hbm_ports": 8} (percent of the board, ports, metrics in
    their units), `require_nodes` refuses what no node would run. What is not given is as the service has it.

    Raises ProblemError for what the service refuses, UsageError for a file that there is not, MissingExtraError.
    Warns of stages that wait because no node would run them.
    """
    client = _client(server, key)
    request: dict[str, Any] = {
        "workload": _chosen(
            wire.NewWorkloadShape, phase=phase, length=length, precision=precision, layers=layers, ports=ports
        ),
        "builds": _chosen(wire.BuildBudget, **(builds or {})),
        "at_most": _chosen(wire.AtMost, **(at_most or {})),
        "objectives": objectives if objectives is UNSET else list(objectives),
        "tags": _tag_list(tags),
    }
    request |= {"platform": platform, "budget": budget, "seed": seed, "sampler": sampler, "islands": islands}
    request |= {"simulate": simulate, "calibration": calibration, "verify": verify, "require_nodes": require_nodes}
    request |= {"vitis": vitis, "board": board, "area_model": area_model, "priority": priority}
    request |= {"name": name, "notes": notes}
    with TemporaryDirectory() as folder:
        reference = _reference(client, _file_of(model, inputs, Path(folder), form), model_name, _path_of(samples))
    started = client.start_exploration(wire.NewExploration(model=reference, **request), str(uuid4()))
    return _started(client, [started])[0]


def explore_all(
    requests: Sequence[wire.NewExploration | Mapping[str, Any]],
    *,
    server: str | Client | None = None,
    key: str | None = None,
) -> list[Exploration]:
    """Start many explorations in one request: all of them or, where one is refused, none.

    Each is a `wire.NewExploration` or a dictionary of its fields, {"model": "gpt2", "workload": {"length": 128},
    "tags": ["paper"]}; `model` is the name of a model that the service has. The service runs them side by side:
    `for exp in started: exp.wait()` ends when all have. `await AsyncClient.start_explorations(...)` does the same.
    Raises ProblemError, UsageError. Warns as `explore`.
    """
    client = _client(server, key)
    asked = [one if isinstance(one, wire.NewExploration) else _chosen(wire.NewExploration, **one) for one in requests]
    replies = client.start_explorations(wire.NewExplorations(explorations=asked), str(uuid4()))
    return _started(client, replies.explorations)


def explorations(
    *, tag: str | None = None, server: str | Client | None = None, key: str | None = None
) -> list[Exploration]:
    """All explorations of the service, newest first; with `tag` those that have it."""
    client = _client(server, key)
    return [Exploration(client, reply) for reply in client.explorations() if tag is None or tag in reply.tags]


def find(id: str, *, server: str | Client | None = None, key: str | None = None) -> Exploration:
    """An exploration that was started before, by its id or the beginning of it, its name, or `latest`."""
    client = _client(server, key)
    return Exploration(client, client.exploration(id))


def _client(server: str | Client | None, key: str | None) -> Client:
    return server if isinstance(server, Client) else Client(server, key=key)


def _started(client: Client, replies: Sequence[wire.Exploration]) -> list[Exploration]:
    """What was started, with a warning (to whoever called the caller) for each stage that would wait."""
    for text in dict.fromkeys(text for reply in replies for text in reply.warnings):
        warnings.warn(text, stacklevel=3)
    return [Exploration(client, reply) for reply in replies]


def _tag_list(tags: Sequence[str] | Unset) -> list[str] | Unset:
    """As they are sent. Raises UsageError for one text, which would be taken letter by letter."""
    if isinstance(tags, str):
        raise UsageError(f"tags is the text {tags!r}; give a list: tags=[{tags!r}]")
    return UNSET if tags is UNSET else list(tags)


def _chosen(kind: type[Any], **values: Any) -> Any:
    """A part of a request, UNSET where nothing of it is chosen. Raises UsageError for what it does not have."""
    if unknown := set(values) - set(kind.__dataclass_fields__):
        raise UsageError(f"there is no {min(unknown)!r}; there are {', '.join(kind.__dataclass_fields__)}")
    return UNSET if all(value is UNSET for value in values.values()) else kind(**values)


def _file_of(model: Any, inputs: tuple[Any, ...] | None, folder: Path, form: ModuleFormat) -> str | Path:
    """A name, or the path of a file. Raises UsageError for what is no form."""
    check_form(form)
    if is_module(model):
        if inputs is None:
            raise UsageError("name the module's inputs: explore(module, (x,))")
        out = folder / f"{type(model).__name__}.{form}"
        export_module(model, inputs, out, form)
        return out
    path = Path(model)
    return path if path.suffix in _FILES or path.exists() else str(model)


def _path_of(samples: str | Path | None) -> Path | None:
    return None if samples is None else Path(samples)


def _reference(client: Client, model: str | Path, name: str | None, samples: Path | None) -> str:
    """What the service calls the model; a file is stored first, with its samples. Raises UsageError where there is no
    such file, or samples come without one.
    """
    if isinstance(model, str):
        if samples is not None:
            raise UsageError(f"samples come with a network's file; {model!r} is a name: store it with client.add_model")
        return model
    path = model / "config.json" if model.is_dir() else model
    for file in (path, samples):
        if file is not None and not file.is_file():
            raise UsageError(f"there is no file {file}")
    stem = path.resolve().parent.name if path.name == "config.json" else path.stem
    plain = re.sub(r"[^A-Za-z0-9._+-]", "_", name or stem).lstrip("._+-")[:80] or "model"
    try:
        return client.add_model(path, plain, samples).id
    except ConflictError:
        if name is not None:
            raise
        # Another network was called so before: a file that changes from run to run is told by its content.
        content = path.read_bytes() + (samples.read_bytes() if samples else b"")
        digest = hashlib.sha256(content).hexdigest()[:8]
        return client.add_model(path, f"{plain}-{digest}", samples).id
