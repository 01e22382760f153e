"""What goes over the wire, generated from api/openapi.json by `python -m api.wire`. Do not edit."""
# fmt: off

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from millrace.unset import UNSET, Unset


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """A regressed run that was taken as the new baseline."""

    who: str | None
    """Name of the key; null where nobody is asked for one."""

    at: datetime
    """When, UTC."""


@dataclass(frozen=True, kw_only=True)
class Alive:
    """This process answers requests; whether it can do its work is what `ready` says."""

    status: Literal["ok"] = 'ok'
    """Always "ok"."""


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A key, without its secret."""

    id: str
    """Identifier of the key; not the key itself."""

    name: str
    """What ownership and audit call its holder."""

    role: Literal["viewer", "user", "node", "admin"]
    """What it allows; see `Me`."""

    prefix: str
    """The key's first characters, to tell it by."""

    quotas: dict[str, Any]
    """Its bounds, by name; see `Quotas`."""

    created_at: datetime
    """When it was made, UTC."""

    expires_at: datetime | None
    """When it stops being valid, UTC; null for never."""

    revoked_at: datetime | None
    """When it was revoked, UTC; null where it was not."""

    last_used_at: datetime | None
    """When it was last used, UTC, to the minute; null for never."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file of a design directory."""

    path: str
    """Where it lies in the directory."""

    size: int
    """Bytes."""

    digest: str
    """SHA-256 of the bytes."""

    media_type: str
    """What it is, like text/plain."""

    url: str
    """Path on the service to read it from."""


@dataclass(frozen=True, kw_only=True)
class AtMost:
    """What a design may use, where that is less than the board has, and take, by estimate: what has more is as what
    does not fit. Shares are in percent of what the board offers a design; null for all of it.
    """

    lut: float | Unset | None = UNSET
    """LUTs, percent."""

    ff: float | Unset | None = UNSET
    """Flip-flops, percent."""

    dsp: float | Unset | None = UNSET
    """DSPs, percent."""

    bram36: float | Unset | None = UNSET
    """Block RAMs, percent."""

    uram: float | Unset | None = UNSET
    """UltraRAMs, percent."""

    hbm_ports: int | Unset | None = UNSET
    """HBM ports, their number."""

    dies: Literal[1] | Unset | None = UNSET
    """Dies: 1 for designs that lie whole on the die that has the HBM, so that no stream leaves it."""

    latency: float | Unset | None = UNSET
    """Time of one run, us."""

    energy: float | Unset | None = UNSET
    """Energy of one run above the idle board, uJ."""

    energy_with_idle: float | Unset | None = UNSET
    """Energy of one run with the idle board, uJ."""

    power: float | Unset | None = UNSET
    """Power of the board during a run, W."""

    area: float | Unset | None = UNSET
    """The largest share of LUT, FF, DSP, BRAM or URAM that a design may use, percent."""

    hbm_traffic: float | Unset | None = UNSET
    """Bytes over HBM in one run."""

    mean_latency: float | Unset | None = UNSET
    """Time of one run, the mean of all positions, us; of the phases step and token."""

    mean_energy: float | Unset | None = UNSET
    """Energy of one run above the idle board, the mean of all positions, uJ; of the phases step and token."""

    prompt_time: float | Unset | None = UNSET
    """Time of a token of a prompt, us; of the phase token."""

    time_per_token: float | Unset | None = UNSET
    """Time of a token of a whole reply, starts of kernels too, ms; of the phase token."""

    input_interval: float | Unset | None = UNSET
    """Time from one input to the next within a launch, us; of a batch of several."""

    on_chip_memory: float | Unset | None = UNSET
    """Bytes of memory on chip between tasks."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A run of a build that failed and was tried again."""

    attempt: int
    """Number of the run, from 0; its log is at the build's `log_url` + "?attempt=" + this."""

    failure: Literal["infeasible", "tool", "licence", "node", "timeout", "limit"]
    """Why it failed: the design (infeasible), the tool, no licence, the node, its time was up, or another limit."""

    error: str
    """What was wrong, in words."""

    node: str | None
    """Machine that it ran on; null where none had taken it."""

    log_digest: str | None
    """SHA-256 of its log; null where it has none."""

    started_at: datetime | None
    """When it began, UTC."""

    finished_at: datetime | None
    """When it ended, UTC."""


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """Who changed what, or was not allowed to."""

    id: int
    """Number of the entry; later ones have greater ones."""

    at: datetime
    """When it happened, UTC."""

    who: str | None
    """Name of the key; null where nobody is asked for one."""

    address: str
    """Network address of the caller."""

    action: str
    """Method and route, or the command on the service's machine."""

    target: str | None
    """Id or name of what was changed; null where there is none."""

    detail: dict[str, Any]
    """What else was kept, by name."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """One stage of a workload, an exploration or a design."""

    id: str
    """Identifier of the build."""

    workload_id: str | None
    """The workload that it is of; null for a build of something else."""

    exploration_id: str | None
    """The exploration that it belongs to; null for a workload's."""

    design_id: str | None
    """The design that it is of; null for a build of something else."""

    stage: str
    """What is done: lower, search, simulate, csim, csynth, cosim, link, measure or calibrate."""

    state: Literal["blocked", "queued", "running", "done", "failed", "cancelled"]
    """How it stands; a blocked one waits for the build `after`."""

    queue: str
    """The capability of a node that it waits for or has."""

    node: str | None
    """Machine that runs it or ran it; null before."""

    owner: str
    """Who pays for it in fair queuing: the exploration's owner, or empty."""

    licence: str | None
    """Licence feature that it takes a token of; null for none."""

    after: str | None
    """The build whose results it reads; null for none."""

    waiting: str | None
    """Why it does not run, while it is queued or blocked; else null."""

    attempt: int
    """Runs since it was last queued; the failed ones are in `history`."""

    losses: int
    """Times that its worker was lost."""

    history: list[Attempt]
    """Failed runs that were tried again, oldest first."""

    adopted_from: str | None
    """The build with equal inputs whose results these are; null where it ran itself."""

    options: dict[str, Any]
    """What was chosen for the stage, by name."""

    cpus: float
    """CPU cores that it asks for."""

    memory_gb: float
    """Memory that it asks for, GB (of 2**30 bytes)."""

    timeout_s: float | None
    """Seconds after which it is stopped; null for never."""

    verdict: dict[str, Any] | None
    """What the stage found out, by name; null before its end and for stages without one."""

    failure: Literal["infeasible", "tool", "licence", "node", "timeout", "limit"] | None
    """Why it failed: the design (infeasible), the tool, no licence, the node, its time was up, or another limit."""

    error: str | None
    """What was wrong, in words; null where nothing was."""

    log_url: str | None
    """Path of what its tools have printed; null where there is nothing yet."""

    live: bool
    """Whether the log still grows: follow it at `log_url` + "/stream"."""

    tool_versions: dict[str, Any]
    """Versions of the tools that it depends on, by name."""

    created_at: datetime
    """When it was made, UTC."""

    started_at: datetime | None
    """When its last run began, UTC; null before."""

    finished_at: datetime | None
    """When it ended, UTC; null before."""


@dataclass(frozen=True, kw_only=True)
class BuildBudget:
    """How many designs go up to each of the stages that need Vitis or a board. At most as many are linked as are
    synthesised; a stage that is asked for without the one that it reads from implies as many of that.
    """

    csynth: int | Unset = UNSET
    """Designs to synthesise with Vitis HLS."""

    cosim: int | Unset = UNSET
    """Designs to co-simulate as RTL."""

    link: int | Unset = UNSET
    """Designs to place and route."""

    measure: int | Unset = UNSET
    """Designs to run on a board."""


@dataclass(frozen=True, kw_only=True)
class BuildCounts:
    """Builds of a run."""

    ran: int
    """Builds that were run."""

    cached: int
    """Builds whose results came from the cache."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something that is not as it was."""

    what: str
    """A tool's version, an option, the model, a node."""

    before: str
    """What it was."""

    after: str
    """What it is."""

    stages: list[str]
    """Stages that depend on it."""


@dataclass(frozen=True, kw_only=True)
class Clone:
    """What is to be different in the copy of a build."""

    vitis: str | Unset | None = UNSET
    """Version of Vitis, like 2023.2."""

    clock_mhz: float | Unset | None = UNSET
    """Clock to aim at, MHz."""

    target: Literal["hw", "hw_emu"] | Unset | None = UNSET
    """"hw" is the bitstream, "hw_emu" its emulation."""

    board: str | Unset | None = UNSET
    """Board to measure on: "simulated" or the shell of a board."""


@dataclass(frozen=True, kw_only=True)
class CsimSummary:
    """A design's newest C simulation."""

    state: Literal["blocked", "queued", "running", "done", "failed", "cancelled"]
    """How it stands."""

    passed: bool | None
    """Whether every result is within its bound of the reference; null before its end."""

    max_rel_error: float | None
    """Largest error of an output, relative to the output's largest value; null before its end."""


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """What would be deleted with something, and why it can not be now."""

    id: str
    """Identifier of what would be deleted."""

    name: str
    """What it is called."""

    needed: list[str]
    """What still needs it, in words: it can be deleted when nothing does."""

    designs: int
    """Designs that go with it, itself among them."""

    builds: int
    """Builds that go with it."""

    events: int
    """Events that go with it."""

    files: int
    """Different stored files that go with it, as nothing else names them; their bytes are given back by retention."""

    bytes: int
    """Bytes of these files."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """A design with all that is known about it."""

    id: str
    """Identifier of the design."""

    number: int
    """Its place in the search, from 0."""

    on_front: bool
    """Whether it is on the Pareto front: by estimate, among the designs that no simulation refutes."""

    feasible: bool
    """Whether it fits the platform."""

    latency_us: float | None
    """Estimated latency, us; null where it can not be built."""

    energy_uj: float | None
    """Estimated energy of one run, idle board subtracted, uJ; null where it can not be built."""

    objectives: list[float]
    """The exploration's objectives, in its order; empty where it can not be built."""

    reason: str | None
    """Why it can not be built; null where it can."""

    knobs: dict[str, Any]
    """The knobs that make it, by name."""

    simulation: SimulationSummary | None
    """Its newest timing simulation; null for none."""

    csim: CsimSummary | None
    """Its newest C simulation; null for none."""

    flags: list[Flag]
    """Values of it that can not be true."""

    tags: list[str]
    """Words to find it by."""

    notes: str
    """What people wrote about it, plain text."""

    archived: bool
    """Whether lists and pictures leave it out; its files do not expire then."""

    pinned: bool
    """Whether it is kept from deletion; its files do not expire then."""

    exploration_id: str
    """The exploration that found it."""

    metrics: list[Metric]
    """Every number that is known of it, in the order in which they came."""

    differences: list[Difference]
    """Metrics that are known at two fidelities or more, neighbours compared."""

    assumed: str | None
    """What the times of whole replies (first_token_time, tokens_per_second) rest on besides, with its source; null
    where the design makes none.
    """

    violations: list[Violation]
    """Budgets of the platform that it exceeds."""

    ladder: list[Rung]
    """How it stands at each stage, in order."""

    builds: list[Build]
    """All its builds, newest first."""

    dataflow_available: bool
    """Whether its artifact dataflow.json is stored."""

    simulation_available: bool
    """Whether its artifact simulation.json is stored."""

    archive_available: bool
    """Whether its whole directory is stored."""


@dataclass(frozen=True, kw_only=True)
class DesignChange:
    """What is to be different of a design; only the fields that are given, and not null, change."""

    tags: list[str] | Unset | None = UNSET
    """Words to find it by, without spaces and commas; they replace all that it has."""

    notes: str | Unset | None = UNSET
    """What people write about it, plain text."""

    archived: bool | Unset | None = UNSET
    """Whether lists and pictures leave it out; its files do not expire then."""

    pinned: bool | Unset | None = UNSET
    """Whether it is kept from deletion; its files do not expire then."""


@dataclass(frozen=True, kw_only=True)
class DesignSummary:
    """A design in a list. Its objectives and `feasible` have fidelity `estimate`."""

    id: str
    """Identifier of the design."""

    number: int
    """Its place in the search, from 0."""

    on_front: bool
    """Whether it is on the Pareto front: by estimate, among the designs that no simulation refutes."""

    feasible: bool
    """Whether it fits the platform."""

    latency_us: float | None
    """Estimated latency, us; null where it can not be built."""

    energy_uj: float | None
    """Estimated energy of one run, idle board subtracted, uJ; null where it can not be built."""

    objectives: list[float]
    """The exploration's objectives, in its order; empty where it can not be built."""

    reason: str | None
    """Why it can not be built; null where it can."""

    knobs: dict[str, Any]
    """The knobs that make it, by name."""

    simulation: SimulationSummary | None
    """Its newest timing simulation; null for none."""

    csim: CsimSummary | None
    """Its newest C simulation; null for none."""

    flags: list[Flag]
    """Values of it that can not be true."""

    tags: list[str]
    """Words to find it by."""

    notes: str
    """What people wrote about it, plain text."""

    archived: bool
    """Whether lists and pictures leave it out; its files do not expire then."""

    pinned: bool
    """Whether it is kept from deletion; its files do not expire then."""


@dataclass(frozen=True, kw_only=True)
class DesignTable:
    """All designs of an exploration with all metrics and knobs, by column."""

    exploration_id: str
    """The exploration that found them."""

    rows: int
    """How many designs there are."""

    objectives: list[str]
    """Columns that the search made small; the front is sorted by the first."""

    columns: list[TableColumn]
    """The first is `id`; all have `rows` values."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A metric at two neighbouring fidelities."""

    metric: str
    """Name of the metric."""

    unit: str
    """Unit of both values."""

    predicted_by: str
    """The weaker fidelity."""

    predicted: float
    """The value by the weaker fidelity, in `unit`."""

    fidelity: str
    """The better fidelity."""

    value: float
    """The value by the better fidelity, in `unit`."""

    error: float | None
    """Error of the prediction as a share of the better value, signed; null where that is 0."""


@dataclass(frozen=True, kw_only=True)
class EstimateErrors:
    """How far the estimates of an exploration are off a better fidelity; shares of the better value."""

    metric: str
    """The metric that is compared."""

    fidelity: str
    """The better fidelity."""

    n: int
    """Designs that are known at both."""

    median: float
    """Median of the absolute errors, as a share."""

    p95: float
    """95th percentile of the absolute errors, as a share."""

    worst: float
    """The largest absolute error, as a share."""

    bias: float
    """Median of the signed errors, as a share; negative where estimates are too short."""

    low: float
    """The 5th percentile of the signed errors, as a share."""

    high: float
    """The 95th percentile of the signed errors, as a share: nine of ten lie from `low` to here."""

    worst_design: str
    """Id of the design with the largest error."""


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """One search."""

    id: str
    """Identifier of the exploration."""

    name: str
    """What it is called; no two have one name."""

    tags: list[str]
    """Words to find it by."""

    notes: str
    """What people wrote about it, plain text."""

    archived: bool
    """Whether lists leave it out; nothing of it expires then."""

    pinned: bool
    """Whether it is kept from deletion; nothing of it expires then."""

    model: ModelRef
    """The model that is explored."""

    workload: WorkloadShape
    """What of it is run."""

    platform: str
    """Name of the board."""

    state: Literal["queued", "lowering", "searching", "simulating", "verifying", "building", "done", "failed", "cancelled"]
    """How it stands."""

    error: str | None
    """Why it failed; null where it did not."""

    budget: int
    """Designs to evaluate."""

    evaluated: int
    """Designs that were evaluated so far."""

    feasible: int
    """Those of them that fit the platform, by estimate."""

    front_size: int
    """Designs on the Pareto front."""

    promoted: int
    """Designs that went up to fidelity `simulate`."""

    simulated: int
    """Those of them whose simulation has ended."""

    estimate_errors: EstimateErrors | None
    """How far its estimates are off the simulated values; null before there are any."""

    objectives: list[Objective]
    """What the search makes small, two or three; the front is sorted by the first."""

    seed: int
    """Seed of the sampler."""

    sampler: str
    """How points of the space are chosen."""

    islands: int
    """Searches side by side that share the budget."""

    at_most: dict[str, float]
    """What a design may have by name, as it was asked for (`AtMost`)."""

    simulate: int
    """Designs of the front that are simulated, at most."""

    calibration: int
    """Other designs that are simulated, for the estimates' error."""

    verify: int
    """Designs of the front that are compiled and compared with the reference."""

    priority: Literal["low", "normal", "high"]
    """Against its owner's other explorations."""

    owner: str | None
    """Name of the key that started it; null where nobody is asked for one."""

    sweep_run_id: str | None
    """The sweep's run that it belongs to; null for none."""

    builds: dict[str, int]
    """How many designs go further, by stage."""

    vitis: str | None
    """Version of Vitis to build with; null for the newest that a node offers."""

    board: str | None
    """Board to measure on; null for the simulated one."""

    area_model: str | None
    """SHA-256 of the fitted area model; null for the one of the release."""

    waiting: str | None = None
    """Why nothing of it runs; null where something does, and in lists."""

    picks: list[Pick]
    """The best of the front so far in its first objective, the knee, and the best in the others; empty without one."""

    distinct: int | None = None
    """How many different objectives, by estimate, the designs have that can be built: the search tells so many apart.
    At least so many different accelerators are among them, for two can have equal estimates; null in lists.
    """

    warnings: list[str] = field(default_factory=list[str])
    """Stages that were added, as those that it asks for read from them, and stages that no node of the farm would run
    now, with the reason; empty once it has ended, and in lists.
    """

    created_at: datetime
    """When it was started, UTC."""

    started_at: datetime | None
    """When its first work began, UTC; null before."""

    finished_at: datetime | None
    """When it ended, UTC; null before."""


@dataclass(frozen=True, kw_only=True)
class ExplorationChange:
    """What is to be different of an exploration; only the fields that are given, and not null, change."""

    name: str | Unset | None = UNSET
    """What it is called from now on: letters, digits and . _ + -, and no other exploration has it."""

    tags: list[str] | Unset | None = UNSET
    """Words to find it by, without spaces and commas; they replace all that it has."""

    notes: str | Unset | None = UNSET
    """What people write about it, plain text."""

    archived: bool | Unset | None = UNSET
    """Whether lists leave it out; nothing of it expires then."""

    pinned: bool | Unset | None = UNSET
    """Whether it is kept from deletion; nothing of it expires then."""


@dataclass(frozen=True, kw_only=True)
class Farm:
    """All of the farm at a glance."""

    nodes: list[Node]
    """Its machines."""

    queues: list[QueueState]
    """Its queues."""

    licences: list[Licence]
    """Its licences."""

    running: list[Build]
    """What runs now, longest first, the first hundred."""


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A value that can not be true."""

    metric: str
    """Name of the metric."""

    fidelity: str
    """Where the value came from."""

    value: float | str
    """The value, in `unit`; what JSON has no number for (inf, nan) is text."""

    bound: float
    """The physical limit that it breaks, in `unit`."""

    unit: str
    """Unit of value and bound."""

    text: str
    """Both in words."""


@dataclass(frozen=True, kw_only=True)
class FrontChange:
    """A front at one fidelity, in the baseline and now. Hypervolumes are on logarithmic axes up to a reference that
    both share. Lists are cut, counts are not.
    """

    fidelity: str
    """Where the objectives came from."""

    before: int
    """Designs on the baseline's front."""

    after: int
    """Designs on the front now."""

    hypervolume_before: float
    """The baseline's hypervolume, without unit."""

    hypervolume_after: float
    """The hypervolume now, without unit."""

    change: float | None
    """Relative difference of the hypervolumes; null where there was no front."""

    new: list[FrontPoint]
    """Designs that only the new front has."""

    new_count: int
    """Their number."""

    lost: list[FrontPoint]
    """Designs that only the baseline's front has."""

    lost_count: int
    """Their number."""

    moved: list[MovedPoint]
    """Designs of both fronts with other objectives."""

    moved_count: int
    """Their number."""


@dataclass(frozen=True, kw_only=True)
class FrontPoint:
    """A design of a front."""

    id: str
    """Identifier of the design."""

    number: int
    """Its place in the search, from 0."""

    objectives: list[float]
    """The exploration's, in its order."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Designs of a front that the estimate can not tell apart."""

    design_id: str
    """Id of the one that stands for them; none of them has a better fidelity."""

    number: int
    """Its place in the search, from 0."""

    rank: int
    """When to look at it, from 1: simulated designs first, of these the best in each objective, the knee, then always
    the middle of the widest gap.
    """

    objectives: list[float]
    """The exploration's objectives, in its order, with the latency of `fidelity`."""

    fidelity: Literal["estimate", "simulate"]
    """The best fidelity of its latency; all else is estimated."""

    latency_range: list[float] | None
    """From where to where its latency lies by simulation, us: of an estimate with the errors that nine of ten designs
    of this exploration have. Null before there are any, and where latency is no objective.
    """

    members: list[str]
    """Ids of all of them, this one included, by the first objective."""


@dataclass(frozen=True, kw_only=True)
class Groups:
    """A front by estimate, with designs that are within the error of one another as one."""

    error: float
    """Up to which share objectives count as equal: half the range in which nine of ten errors of the estimate lie; 0
    before there are any.
    """

    groups: list[Group]
    """By the first objective of the designs that stand for them."""


@dataclass(frozen=True, kw_only=True)
class Hbm:
    """High-bandwidth memory of a board."""

    channels: int
    """Pseudo-channels."""

    channel_bytes: int
    """Bytes that one pseudo-channel holds."""

    channel_gb_s: float
    """What one pseudo-channel moves at most, GB/s (1e9 bytes/s)."""


@dataclass(frozen=True, kw_only=True)
class Health:
    """How the service is. `degraded`: requests are answered, but work waits (no broker or no worker)."""

    status: Literal["ok", "degraded"]
    """Whether work can be done."""

    version: str
    """Millrace's version."""

    database: bool
    """Whether the database answers."""

    broker: bool
    """Whether Redis answers."""

    workers: int
    """Workers that answer."""

    detail: str | None = None
    """What is wrong, in words; null where nothing is."""


@dataclass(frozen=True, kw_only=True)
class Joined:
    """What the worker of a machine that joins needs."""

    version: str
    """The farm's version of Millrace."""

    revision: str
    """The revision of the farm's database."""

    environment: dict[str, str]
    """Variables for the worker, secrets among them."""

    probe: str
    """SHA-256 of a content that the farm's store has."""


@dataclass(frozen=True, kw_only=True)
class Joining:
    """A machine that wants to work for the farm."""

    name: str
    """What it calls itself."""

    version: str
    """Its version of Millrace."""


@dataclass(frozen=True, kw_only=True)
class KeyChange:
    """What is to be different of a key."""

    quotas: Quotas
    """All its bounds from now on: one that is not given is none."""


@dataclass(frozen=True, kw_only=True)
class Licence:
    """A licence feature that builds take tokens of."""

    feature: str
    """Name of the feature."""

    tokens: int
    """Tokens that there are."""

    used: int
    """Tokens that running builds have."""


@dataclass(frozen=True, kw_only=True)
class MadeApiKey:
    """A new key, with its secret."""

    id: str
    """Identifier of the key; not the key itself."""

    name: str
    """What ownership and audit call its holder."""

    role: Literal["viewer", "user", "node", "admin"]
    """What it allows; see `Me`."""

    prefix: str
    """The key's first characters, to tell it by."""

    quotas: dict[str, Any]
    """Its bounds, by name; see `Quotas`."""

    created_at: datetime
    """When it was made, UTC."""

    expires_at: datetime | None
    """When it stops being valid, UTC; null for never."""

    revoked_at: datetime | None
    """When it was revoked, UTC; null where it was not."""

    last_used_at: datetime | None
    """When it was last used, UTC, to the minute; null for never."""

    key: str
    """The key itself: shown this once and stored nowhere."""


@dataclass(frozen=True, kw_only=True)
class Me:
    """Who asks, as the service sees it."""

    access: bool
    """Whether the service asks for keys at all; where it does not, everybody is an admin."""

    name: str | None
    """Name of the key; null without one."""

    role: Literal["viewer", "user", "node", "admin"]
    """What the key allows: viewer reads, user also starts and stops, admin does all, node is for workers."""

    quotas: dict[str, Any]
    """Bounds of the key, by name; see `Quotas`."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number with its provenance."""

    name: str
    """What was found out, like latency or lut."""

    value: float
    """The number, in `unit`."""

    unit: str
    """Its unit."""

    fidelity: str
    """How it was found out: estimate, simulate, csynth, cosim, link or board."""

    tool: str
    """The tool that produced it."""

    tool_version: str
    """Version of the tool."""

    build_id: str | None
    """The build that produced it; null for the search's estimates."""


@dataclass(frozen=True, kw_only=True)
class MetricChange:
    """A metric of a design that both runs know at the same fidelity."""

    slot: str | None
    """The exploration's place in the matrix; null in the list of one slot."""

    design: NamedDesign
    """The design."""

    front: bool
    """Whether it is on a front."""

    metric: str
    """Name of the metric."""

    fidelity: str
    """Where both values came from."""

    unit: str
    """Unit of both values."""

    before: float
    """The baseline's value, in `unit`."""

    after: float
    """The value now, in `unit`."""

    change: float | None
    """Relative difference; null where it was 0."""

    worse: bool | None
    """Whether that is worse; null for a metric of which more is neither better nor worse."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A network: built in, from a config.json, or from an uploaded file."""

    id: str
    """Identifier of the model."""

    name: str
    """Its name, by which it can be explored as well."""

    kind: str
    """"builtin", "config" (a config.json), or the format of its file: "onnx", "mlir", "pt2"."""

    config: dict[str, Any]
    """The configuration; of an uploaded file its `digest` (SHA-256), that of the `samples` that came with it, where
    any did, and the `size` of all (bytes).
    """

    digest: str
    """SHA-256 of what it is."""

    owner: str | None
    """Name of the key that added it; null where nobody was asked for one, and for built-in ones."""

    archived: bool
    """Whether lists leave it out."""

    created_at: datetime
    """When it was added, UTC."""


@dataclass(frozen=True, kw_only=True)
class ModelChange:
    """What is to be different of a model."""

    archived: bool
    """Whether lists leave it out; it can still be explored."""


@dataclass(frozen=True, kw_only=True)
class ModelRef:
    """A model, in short."""

    id: str
    """Identifier of the model."""

    name: str
    """Its name, by which it can be explored as well."""

    kind: str
    """"builtin", "config" (a config.json), or the format of its file: "onnx", "mlir", "pt2"."""


@dataclass(frozen=True, kw_only=True)
class MovedPoint:
    """A design of both fronts with other objectives."""

    id: str
    """Identifier of the design."""

    number: int
    """Its place in the search, from 0."""

    before: list[float]
    """The exploration's objectives in the baseline, in their order."""

    after: list[float]
    """The exploration's objectives now."""


@dataclass(frozen=True, kw_only=True)
class NamedDesign:
    """A design, to look at."""

    id: str
    """Identifier of the design."""

    number: int
    """Its place in the search, from 0."""


@dataclass(frozen=True, kw_only=True)
class NewApiKey:
    """The key to make."""

    name: str
    """What ownership and audit call the holder."""

    role: Literal["viewer", "user", "node", "admin"] | Unset = UNSET
    """What it allows; see `Me`."""

    quotas: Quotas | Unset = UNSET
    """Its bounds."""

    days: int | Unset | None = UNSET
    """Days for which it is valid; null for ever."""


@dataclass(frozen=True, kw_only=True)
class NewBuild:
    """The stage to run; those before it that are not done run first."""

    vitis: str | Unset | None = UNSET
    """Version of Vitis, like 2023.2."""

    clock_mhz: float | Unset | None = UNSET
    """Clock to aim at, MHz."""

    target: Literal["hw", "hw_emu"] | Unset | None = UNSET
    """"hw" is the bitstream, "hw_emu" its emulation."""

    board: str | Unset | None = UNSET
    """Board to measure on: "simulated" or the shell of a board."""

    stage: Literal["simulate", "csim", "csynth", "cosim", "link", "measure"] | Unset = UNSET
    """The stage of the ladder."""

    proof: Literal["whole"] | Unset | None = UNSET
    """"whole": the C simulation also runs on other inputs, other lengths of the cache and more tokens for each task."""


@dataclass(frozen=True, kw_only=True)
class NewExploration:
    """The search to start."""

    model: str
    """Id or name of the model."""

    workload: NewWorkloadShape | Unset = UNSET
    """What of the model is run."""

    platform: str | Unset = UNSET
    """Name of the board."""

    budget: int | Unset = UNSET
    """Designs to evaluate."""

    seed: int | Unset = UNSET
    """Seed of the sampler."""

    sampler: Literal["front", "nsga2", "tpe", "random", "qmc"] | Unset = UNSET
    """How points of the space are chosen."""

    islands: int | Unset = UNSET
    """Searches side by side, which share the budget and exchange what they find, on as many nodes as are free; the
    designs follow from the seed and their number.
    """

    objectives: list[str] | Unset | None = UNSET
    """What the search makes small, two or three metrics of the estimate: latency, energy, energy_with_idle, power,
    area (the largest share of LUT, FF, DSP, BRAM or URAM that a design may use), lut, ff, dsp, bram36, uram,
    hbm_ports, hbm_traffic, on_chip_memory; of the phases step and token mean_latency and mean_energy, of token
    prompt_time and time_per_token (the reciprocal of tokens_per_second); of a batch of several input_interval. The
    front is sorted by the first. Null for latency and energy, of the phase token prompt_time, too.
    """

    at_most: AtMost | Unset = UNSET
    """What a design may have, where that is less than the board allows."""

    simulate: int | Unset = UNSET
    """Designs of the front that are simulated, at most."""

    calibration: int | Unset = UNSET
    """Other designs that are simulated, for the estimates' error."""

    verify: int | Unset = UNSET
    """Designs of the front that are compiled and compared with the reference."""

    priority: Literal["low", "normal", "high"] | Unset = UNSET
    """Against the caller's other explorations."""

    builds: BuildBudget | Unset = UNSET
    """How many designs go further."""

    vitis: str | Unset | None = UNSET
    """Version of Vitis to build with; null for the newest that a node offers."""

    board: str | Unset | None = UNSET
    """Board to measure on: "simulated" or a shell; null for the simulated one."""

    area_model: Literal["shipped", "latest"] | Unset = UNSET
    """The area model of this release, or the newest that was fitted to the farm's own reports."""

    name: str | Unset | None = UNSET
    """What it is called: letters, digits and . _ + -, and no other exploration has it; null: made from the model and
    what of it is run.
    """

    tags: list[str] | Unset = UNSET
    """Words to find it by, without spaces and commas."""

    notes: str | Unset = UNSET
    """What people write about it, plain text."""

    require_nodes: bool | Unset = UNSET
    """Refuse it (409) where a stage that it asks for has no node of the farm to run it."""


@dataclass(frozen=True, kw_only=True)
class NewExplorations:
    """Searches to start together: all of them, or, where one is refused, none."""

    explorations: list[NewExploration]
    """The searches, 200 at most."""


@dataclass(frozen=True, kw_only=True)
class NewSession:
    """The key to log in with."""

    key: str
    """The key to log in with."""


@dataclass(frozen=True, kw_only=True)
class NewSweep:
    """A schedule over explorations."""

    name: str
    """What to call it."""

    cron: str
    """minute hour day-of-month month day-of-week"""

    zone: str | Unset = UNSET
    """IANA name, like Europe/Berlin"""

    misfire: Literal["skip", "run_once"] | Unset = UNSET
    """What becomes of runs that were due while the farm was away."""

    matrix: SweepMatrix
    """What is explored."""

    options: SweepOptions | Unset = UNSET
    """What all its explorations share."""

    webhook: str | Unset | None = UNSET
    """Called by POST when a run has ended."""

    webhook_secret: str | Unset | None = UNSET
    """Signs the webhook's calls; never shown."""

    enabled: bool | Unset = UNSET
    """Whether the schedule runs."""


@dataclass(frozen=True, kw_only=True)
class NewWorkload:
    """What of which model is to be run."""

    phase: Literal["prefill", "decode", "step", "head", "token"] | Unset = UNSET
    """"prefill": a whole sequence; "decode": one token against a KV cache; "step": one token at the position that a
    launch is told, keys and values stay on the card; "head": final norm, products with the vocabulary and the token
    of the largest; "token": a step with embedding and head, whose launch is told a token and gives the next.
    """

    length: int | Unset = UNSET
    """Tokens of a prefill, context of a decode step, the new token included, or positions of a step or token: 1 or 2
    to 8192, and no more than the model has positions. A head has none.
    """

    batch: int | Unset = UNSET
    """Inputs of a network from a file that a launch takes one after the other, at most: 1 to 1024; of others 1."""

    precision: Literal["f32", "w8a8", "w4a8", "w8a8kv8", "w4a8kv8"] | Unset = UNSET
    """Number formats of weights and activations; with kv8 of keys and values, too: not of a network from a file."""

    layers: int | Unset = UNSET
    """Layers that a launch runs, one after the other: 1 to 128, and no more than the model has."""

    ports: Literal["f32", "i8"] | Unset = UNSET
    """What inputs and results of a network from a file are, in w8a8 or w4a8: f32, or integers (i8) in steps that
    `design.json` names; of others f32.
    """

    model: str
    """Id or name of the model."""


@dataclass(frozen=True, kw_only=True)
class NewWorkloadShape:
    """What of a model is to be run. A network from a file has its shapes in it: others than phase prefill, length 1
    and layers 1 are refused. Its precision is f32, as it is, unless another one is given: then it is quantised,
    with scales of 32 seeded inputs.
    """

    phase: Literal["prefill", "decode", "step", "head", "token"] | Unset = UNSET
    """"prefill": a whole sequence; "decode": one token against a KV cache; "step": one token at the position that a
    launch is told, keys and values stay on the card; "head": final norm, products with the vocabulary and the token
    of the largest; "token": a step with embedding and head, whose launch is told a token and gives the next.
    """

    length: int | Unset = UNSET
    """Tokens of a prefill, context of a decode step, the new token included, or positions of a step or token: 1 or 2
    to 8192, and no more than the model has positions. A head has none.
    """

    batch: int | Unset = UNSET
    """Inputs of a network from a file that a launch takes one after the other, at most: 1 to 1024; of others 1."""

    precision: Literal["f32", "w8a8", "w4a8", "w8a8kv8", "w4a8kv8"] | Unset = UNSET
    """Number formats of weights and activations; with kv8 of keys and values, too: not of a network from a file."""

    layers: int | Unset = UNSET
    """Layers that a launch runs, one after the other: 1 to 128, and no more than the model has."""

    ports: Literal["f32", "i8"] | Unset = UNSET
    """What inputs and results of a network from a file are, in w8a8 or w4a8: f32, or integers (i8) in steps that
    `design.json` names; of others f32.
    """


@dataclass(frozen=True, kw_only=True)
class Node:
    """A machine of the farm."""

    name: str
    """What it calls itself."""

    state: Literal["active", "draining", "paused"]
    """Whether it takes work: active does, draining finishes what it runs, paused runs nothing."""

    present: bool
    """Whether it has reported lately."""

    capabilities: dict[str, Any]
    """What it can do: tool versions by queue."""

    missing: dict[str, Any]
    """Why it can not do something, by what."""

    cpus: float
    """CPU cores that it may use."""

    memory_gb: float
    """Memory that it may use, GB (of 2**30 bytes)."""

    used_cpus: float
    """CPU cores that its running builds ask for."""

    used_memory_gb: float
    """Memory that its running builds ask for, GB (of 2**30 bytes)."""

    running: int
    """Builds that it runs."""

    disk: dict[str, Any]
    """Bytes that it holds on its disk, by what they are for: scratch of builds that run, bundles (imported models),
    store and cache (artifacts), models, database, logs, other. Empty until they were counted.
    """

    version: str
    """Its version of Millrace."""

    first_seen: datetime
    """When it first reported, UTC."""

    last_seen: datetime
    """When it last reported, UTC."""


@dataclass(frozen=True, kw_only=True)
class NodeChange:
    """Whether a node is to take work."""

    state: Literal["active", "draining", "paused"]
    """`draining`: it finishes what it runs and takes nothing more; `paused`: it also gives back what it runs."""


@dataclass(frozen=True, kw_only=True)
class Objective:
    """A metric that the search makes small."""

    name: str
    """The metric."""

    unit: str
    """Its unit."""

    best: str
    """What the design with the least of it is called."""


@dataclass(frozen=True, kw_only=True)
class Pick:
    """A design of the front to look at first. The knee is the design farthest below the chord between the ends of the
    front (of three objectives: the plane), in log scale over its extent; where none lies below it, with the least
    product of the objectives. Simulated designs are ranked by simulated latency as soon as there are any, else all
    by estimate.
    """

    kind: str
    """What it is best at: "knee", or the `best` of an objective."""

    design_id: str
    """Id of the design."""

    number: int
    """Its place in the search, from 0."""

    objectives: list[float]
    """The exploration's objectives, in its order, with the latency of `fidelity`."""

    fidelity: Literal["estimate", "simulate"]
    """Fidelity of its latency, which ranked it; all else is estimated."""

    estimates: list[float]
    """The same by estimate."""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """A board and what a design may use of it."""

    name: str
    """What explorations call it."""

    title: str
    """What people call it."""

    part: str
    """The FPGA's part number."""

    budgets: dict[str, int]
    """What a design may use at most: lut, ff, dsp, bram36, uram, in numbers of them."""

    hbm: Hbm
    """Its high-bandwidth memory."""

    clock_mhz: float
    """Clock of the kernels, MHz."""


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """A queue of builds that need one capability."""

    name: str
    """The capability."""

    waiting: int
    """Builds that wait in it."""

    running: int
    """Builds of it that run."""

    oldest_s: float | None
    """Seconds that the oldest has waited; null where none waits."""

    nodes: int
    """Active nodes that serve it."""


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """One key's bounds; null is none."""

    active_explorations: int | Unset | None = UNSET
    """Explorations that are not at their end, at most."""

    open_builds: int | Unset | None = UNSET
    """Builds that are not at their end, at most: bounds those that are asked for, not those that explorations need."""

    running_builds: int | Unset | None = UNSET
    """Builds that run at once, at most: others wait for their end."""

    designs: int | Unset | None = UNSET
    """Designs, at most: those that are stored, and of explorations under way all that they may find."""

    stored_bytes: int | Unset | None = UNSET
    """Bytes of uploaded models and of files of builds, at most: where they are reached nothing is started. Each
    content counts once, logs do not.
    """

    upload_bytes: int | Unset | None = UNSET
    """Bytes of one upload, at most."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """Whether requests can be answered."""

    status: Literal["ready", "not ready"]
    """"ready": the database answers and has this release's tables, and the broker answers."""

    detail: str | None = None
    """What is wrong, in words; null where nothing is."""


@dataclass(frozen=True, kw_only=True)
class Regression:
    """What got worse."""

    slot: str
    """The exploration's place in the matrix."""

    exploration: str
    """Identifier of the exploration."""

    kind: Literal["exploration", "design", "stage", "metric", "hypervolume"]
    """What it is that got worse."""

    text: str
    """It in a sentence."""

    design: NamedDesign | None
    """The design, where it is about one."""

    stage: str | None
    """The stage, where it is about one."""

    metric: str | None
    """The metric, where it is about one."""

    fidelity: str | None
    """Where the values came from, where there are any."""

    unit: str | None
    """Unit of the values."""

    before: float | None
    """The baseline's value, in `unit`."""

    after: float | None
    """The value now, in `unit`."""

    change: float | None
    """Relative difference; null where there is none."""

    causes: list[Change]
    """Changes that can have had a part in it."""


@dataclass(frozen=True, kw_only=True)
class Retention:
    """After how many days things expire; null: never. Nothing does of an exploration that is under way, pinned,
    archived, or one that a sweep compares with.
    """

    events: int | None
    """Days after which events of an exploration that has ended go, but for how it ended."""

    audit: int | None
    """Days after which entries of the audit go."""

    logs: int | None
    """Days after which logs of builds that have ended go."""

    files: int | None
    """Days since a design was last built, or a file of it read, after which its files go; they can be made again."""


@dataclass(frozen=True, kw_only=True)
class RetentionChange:
    """What is to expire after another time; only the fields that are given change, null is never."""

    events: int | Unset | None = UNSET
    """Days after which events of an exploration that has ended go, but for how it ended."""

    audit: int | Unset | None = UNSET
    """Days after which entries of the audit go."""

    logs: int | Unset | None = UNSET
    """Days after which logs of builds that have ended go."""

    files: int | Unset | None = UNSET
    """Days since a design was last built, or a file of it read, after which its files go; they can be made again."""


@dataclass(frozen=True, kw_only=True)
class Rung:
    """How a design stands at one stage of the ladder, by its newest build; null where it has none."""

    stage: str
    """The stage: simulate, csim, csynth, cosim, link or measure."""

    build_id: str | None = None
    """The newest build of the stage."""

    state: Literal["blocked", "queued", "running", "done", "failed", "cancelled"] | None = None
    """How the build stands."""

    passed: bool | None = None
    """The verdict, of stages that have one."""

    failure: Literal["infeasible", "tool", "licence", "node", "timeout", "limit"] | None = None
    """Why it failed: the design (infeasible), the tool, no licence, the node, or its time was up."""

    error: str | None = None
    """What was wrong, in words."""

    waiting: str | None = None
    """Why it does not run, while it waits."""

    started_at: datetime | None = None
    """When its last run began, UTC."""

    finished_at: datetime | None = None
    """When it ended, UTC."""


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Designs by column, all in one order. For all metrics and knobs see `DesignTable`."""

    id: list[str]
    """Identifiers."""

    number: list[int]
    """Places in the search, from 0."""

    objectives: list[list[float | None]]
    """Estimated objectives, a list for each of the exploration's, in its order; null where a design can not be built.
    """

    latency_us: list[float | None]
    """Estimated latencies, us; null where a design can not be built."""

    feasible: list[bool]
    """Whether they fit the platform."""

    on_front: list[bool]
    """Whether they are on the Pareto front."""

    csim: list[Literal["running", "passed", "failed"] | None]
    """How their newest C simulations stand; null for none."""

    simulated_us: list[float | None]
    """Simulated latencies, us; null where there is none."""

    simulation: list[Literal["running", "done", "refuted", "failed"] | None]
    """How their newest timing simulations stand; null for none."""


@dataclass(frozen=True, kw_only=True)
class SimulationSummary:
    """A design's newest timing simulation."""

    state: Literal["blocked", "queued", "running", "done", "failed", "cancelled"]
    """How it stands."""

    latency_us: float | None
    """Simulated latency, us; null before its end and for a deadlock."""

    estimate_error: float | None
    """Error of the estimated latency as a share of the simulated one, negative where the estimate is too short."""

    refuted: str | None
    """Why the simulation refutes the design: it deadlocks, or exceeds budgets with certified FIFOs; null where it does
    not.
    """

    stalling: StallingRun | None
    """One more run with stalling pipelines; null before its end, for a refuted design, and in builds of older
    releases.
    """


@dataclass(frozen=True, kw_only=True)
class SlotComparison:
    """One exploration of the run beside its partner in the baseline, where there is one."""

    slot: str
    """Its place in the matrix: the values that make it."""

    state: str
    """How the exploration stands."""

    exploration: str
    """Identifier of the exploration."""

    baseline_exploration: str | None
    """Identifier of its partner; null for none."""

    error: str | None
    """Why it failed; null where it did not."""

    result: Literal["new", "same", "changed", "regressed", "failed", "cancelled"]
    """How the two compare."""

    objectives: list[Objective]
    """What the exploration makes small, in the order of the fronts' values."""

    fronts: list[FrontChange]
    """Their fronts, one entry a fidelity."""

    changes: list[Change]
    """What is not as it was."""

    differences: list[MetricChange]
    """Metrics that differ, the first of them."""

    difference_count: int
    """Metrics that differ, in number."""


@dataclass(frozen=True, kw_only=True)
class StallingRun:
    """Whether a design ends, too, when all its pipelines stall (style stp), which HLS may make of any other style."""

    ends: bool | None
    """Whether it does; null where that took too long to find out."""

    cycles: int | None
    """Simulated cycles up to its end or the deadlock; null where neither was found."""

    fifo: str | None
    """A full FIFO of the deadlock; null where there is none."""

    deadlock: str | None
    """Explanation of the deadlock; null where there is none."""

    fidelity: str
    """How it was found out: simulate."""


@dataclass(frozen=True, kw_only=True)
class StartedExplorations:
    """Searches that were started together."""

    explorations: list[Exploration]
    """One for each that was asked for, in the same order."""


@dataclass(frozen=True, kw_only=True)
class StoredMatrix:
    """The values whose combinations are explored."""

    workloads: list[SweepWorkload]
    """The workloads."""

    platforms: list[str]
    """Names of boards."""

    seeds: list[int]
    """Seeds of the samplers."""

    samplers: list[str]
    """How points of the space are chosen."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A schedule over explorations."""

    id: str
    """Identifier of the sweep."""

    name: str
    """What it is called, by which it can be named as well."""

    cron: str
    """When a run is due: minute hour day-of-month month day-of-week."""

    zone: str
    """Time zone of the schedule."""

    misfire: Literal["skip", "run_once"]
    """What becomes of runs that were due while the farm was away."""

    enabled: bool
    """Whether the schedule runs."""

    next_at: datetime | None
    """When the next run is due, UTC; null while it is disabled."""

    matrix: StoredMatrix
    """What is explored."""

    explorations: int
    """Explorations of one run."""

    options: dict[str, Any]
    """What all its explorations share, by name; see `SweepOptions`."""

    webhook: str | None
    """Called by POST when a run has ended; null for none."""

    signed: bool
    """Whether the webhook's calls carry the HMAC of a secret."""

    webhook_problem: str | None
    """Why the webhook can not be called, and what to do; null where nothing is in the way."""

    owner: str | None
    """Name of the key that made it; null where nobody is asked for one."""

    last_run: SweepRunSummary | None
    """Its newest run; null before the first."""

    warnings: list[str] = field(default_factory=list[str])
    """Stages that its explorations ask for and that no node of the farm would run now, with the reason; empty in
    lists.
    """

    created_at: datetime
    """When it was made, UTC."""


@dataclass(frozen=True, kw_only=True)
class SweepChange:
    """What to change; what is not given stays, and null takes webhook or secret away."""

    cron: str | Unset | None = UNSET
    """When a run is due: minute hour day-of-month month day-of-week."""

    zone: str | Unset | None = UNSET
    """Time zone of the schedule: an IANA name, like Europe/Berlin."""

    misfire: Literal["skip", "run_once"] | Unset | None = UNSET
    """What becomes of runs that were due while the farm was away."""

    matrix: SweepMatrix | Unset | None = UNSET
    """What is explored."""

    options: SweepOptions | Unset | None = UNSET
    """What all its explorations share."""

    webhook: str | Unset | None = UNSET
    """Called by POST when a run has ended."""

    webhook_secret: str | Unset | None = UNSET
    """Signs the webhook's calls; never shown."""

    enabled: bool | Unset | None = UNSET
    """Whether the schedule runs."""


@dataclass(frozen=True, kw_only=True)
class SweepMatrix:
    """Every combination of the values is an exploration, 200 at most."""

    models: list[str]
    """Ids or names of models."""

    phases: list[Literal["prefill", "decode", "step", "head", "token"]] | Unset = UNSET
    """What one run computes; does not apply to networks from a file."""

    lengths: list[int] | Unset = UNSET
    """Tokens of a prefill, context of a decode step; does not apply to heads and networks from a file."""

    precisions: list[Literal["f32", "w8a8", "w4a8", "w8a8kv8", "w4a8kv8"]] | Unset = UNSET
    """Number formats of weights and activations; with kv8 of keys and values, too: not of networks from a file."""

    layers: list[int] | Unset = UNSET
    """Layers that a launch runs, one after the other; does not apply to heads."""

    platforms: list[str] | Unset = UNSET
    """Names of boards."""

    seeds: list[int] | Unset = UNSET
    """Seeds of the samplers."""

    samplers: list[Literal["front", "nsga2", "tpe", "random", "qmc"]] | Unset = UNSET
    """How points of the space are chosen."""


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What all explorations of a sweep share; see `NewExploration`."""

    budget: int | Unset = UNSET
    """Designs that each exploration evaluates."""

    simulate: int | Unset = UNSET
    """Designs of the front that are simulated, at most."""

    calibration: int | Unset = UNSET
    """Other designs that are simulated, for the estimates' error."""

    verify: int | Unset = UNSET
    """Designs of the front that are compiled and compared with the reference."""

    objectives: list[str] | Unset = UNSET
    """What each search makes small."""

    priority: Literal["low", "normal", "high"] | Unset = UNSET
    """Against the owner's other explorations."""

    builds: BuildBudget | Unset = UNSET
    """How many designs go further."""

    vitis: str | Unset | None = UNSET
    """Version of Vitis to build with; null for the newest that a node offers."""

    board: str | Unset | None = UNSET
    """Board to measure on: "simulated" or a shell; null for the simulated one."""

    area_model: Literal["shipped", "latest"] | Unset = UNSET
    """The area model of this release, or the newest that was fitted to the farm's own reports."""

    tolerance: float | Unset = UNSET
    """Relative differences up to it count as none; 0.02 is 2 %."""


@dataclass(frozen=True, kw_only=True)
class SweepRun:
    """A run with its comparison; the lists are empty until it has ended."""

    id: str
    """Identifier of the run."""

    sweep_id: str
    """The sweep that it is of."""

    state: Literal["running", "same", "changed", "regressed", "failed", "cancelled"]
    """How it stands, and once it has ended how it compares with its baseline."""

    cause: str
    """"schedule", "late" (it was missed) or "manual"."""

    scheduled_for: datetime | None
    """When it was due, UTC; null for one that was started by hand."""

    baseline_id: str | None
    """The run that it is compared with; null for none."""

    explorations: int
    """Explorations that it has."""

    ended: int
    """Those of them that have ended."""

    builds: BuildCounts | None
    """Builds that it took; null before its end."""

    regression_count: int
    """What got worse, in number."""

    improvement_count: int
    """What got better, in number."""

    index: float | None
    """Hypervolume of its fronts, as a share of the first run's; null where there is none."""

    tool_versions: dict[str, str]
    """Versions of the tools, by name."""

    error: str | None
    """Why it failed; null where it did not."""

    accepted: Acceptance | None
    """Who took it as the new baseline; null where nobody has."""

    webhook: WebhookOutcome | None
    """How the webhook's calls went; null without one."""

    created_at: datetime
    """When it was started, UTC."""

    finished_at: datetime | None
    """When it ended, UTC; null before."""

    sweep: str
    """Name of the sweep."""

    warnings: list[str] = field(default_factory=list[str])
    """Stages that its explorations ask for and that no node of the farm would run now, with the reason; empty once it
    has ended.
    """

    tolerance: float | None
    """Relative differences up to it count as none; null before it was compared."""

    regressions: list[Regression]
    """What got worse."""

    improvements: list[MetricChange]
    """Metrics that got better."""

    slots: list[SlotComparison]
    """Its explorations, compared."""


@dataclass(frozen=True, kw_only=True)
class SweepRunSummary:
    """One run of a sweep."""

    id: str
    """Identifier of the run."""

    sweep_id: str
    """The sweep that it is of."""

    state: Literal["running", "same", "changed", "regressed", "failed", "cancelled"]
    """How it stands, and once it has ended how it compares with its baseline."""

    cause: str
    """"schedule", "late" (it was missed) or "manual"."""

    scheduled_for: datetime | None
    """When it was due, UTC; null for one that was started by hand."""

    baseline_id: str | None
    """The run that it is compared with; null for none."""

    explorations: int
    """Explorations that it has."""

    ended: int
    """Those of them that have ended."""

    builds: BuildCounts | None
    """Builds that it took; null before its end."""

    regression_count: int
    """What got worse, in number."""

    improvement_count: int
    """What got better, in number."""

    index: float | None
    """Hypervolume of its fronts, as a share of the first run's; null where there is none."""

    tool_versions: dict[str, str]
    """Versions of the tools, by name."""

    error: str | None
    """Why it failed; null where it did not."""

    accepted: Acceptance | None
    """Who took it as the new baseline; null where nobody has."""

    webhook: WebhookOutcome | None
    """How the webhook's calls went; null without one."""

    created_at: datetime
    """When it was started, UTC."""

    finished_at: datetime | None
    """When it ended, UTC; null before."""


@dataclass(frozen=True, kw_only=True)
class SweepWorkload:
    """A workload of the matrix."""

    phase: str
    """"prefill": a whole sequence; "decode": one token against a KV cache; "step": one token at the position that a
    launch is told, keys and values stay on the card; "head": final norm, products with the vocabulary and the token
    of the largest; "token": a step with embedding and head, whose launch is told a token and gives the next.
    """

    length: int
    """Tokens of a prefill, context of a decode step, the new token included, or positions of a step or token; 1 of a
    head.
    """

    batch: int
    """Inputs that a launch takes one after the other, at most."""

    precision: str
    """Number formats of weights and activations: f32, w8a8, w4a8; w8a8kv8, w4a8kv8: keys and values of 8 bits, too."""

    layers: int
    """Layers that a launch runs, one after the other."""

    ports: str
    """What inputs and results are: f32, or i8, integers in steps that `design.json` names."""

    id: str
    """Identifier of the workload."""

    model: ModelRef
    """The model that is run."""


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """One column of a table of designs. A metric is called by name, unit and fidelity: `latency_us` is the estimate's,
    `latency_us_simulate` the simulator's. Resources stand twice: `lut_used` is a number, `lut` the share of what
    the platform has. Knobs begin with `knob_`.
    """

    name: str
    """What it is called; unique in the table."""

    kind: Literal["design", "metric", "share", "knob"]
    """What its values say: about the design itself, a metric, a share of the platform's budget, or a knob."""

    unit: str
    """Unit of its values; empty where they have none."""

    fidelity: str | None
    """How its values were found out: estimate, simulate, csynth, cosim, link or board; null where that says nothing."""

    values: list[Any]
    """One value a design, in the order of evaluation; null where there is none."""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Licence tokens that there are."""

    tokens: int
    """How many builds that need the feature may run at once."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A budget that a design exceeds."""

    resource: str
    """Which budget, like lut or hbm_ports."""

    demand: float
    """What the design needs, in numbers of the resource."""

    bound: float
    """What there is, in the same unit."""


@dataclass(frozen=True, kw_only=True)
class WebhookOutcome:
    """How the calls of the webhook went."""

    state: Literal["waiting", "sending", "sent", "failed"]
    """How they stand."""

    attempts: int
    """Calls so far."""

    status: int | None
    """HTTP status of the last one; null where there was no answer."""

    error: str | None
    """What was wrong with the last one; null where nothing was."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A stored workload."""

    phase: str
    """"prefill": a whole sequence; "decode": one token against a KV cache; "step": one token at the position that a
    launch is told, keys and values stay on the card; "head": final norm, products with the vocabulary and the token
    of the largest; "token": a step with embedding and head, whose launch is told a token and gives the next.
    """

    length: int
    """Tokens of a prefill, context of a decode step, the new token included, or positions of a step or token; 1 of a
    head.
    """

    batch: int
    """Inputs that a launch takes one after the other, at most."""

    precision: str
    """Number formats of weights and activations: f32, w8a8, w4a8; w8a8kv8, w4a8kv8: keys and values of 8 bits, too."""

    layers: int
    """Layers that a launch runs, one after the other."""

    ports: str
    """What inputs and results are: f32, or i8, integers in steps that `design.json` names."""

    id: str
    """Identifier of the workload."""

    model: ModelRef
    """The model that is run."""

    created_at: datetime
    """When it was made, UTC."""


@dataclass(frozen=True, kw_only=True)
class WorkloadShape:
    """What of a model is run."""

    phase: str
    """"prefill": a whole sequence; "decode": one token against a KV cache; "step": one token at the position that a
    launch is told, keys and values stay on the card; "head": final norm, products with the vocabulary and the token
    of the largest; "token": a step with embedding and head, whose launch is told a token and gives the next.
    """

    length: int
    """Tokens of a prefill, context of a decode step, the new token included, or positions of a step or token; 1 of a
    head.
    """

    batch: int
    """Inputs that a launch takes one after the other, at most."""

    precision: str
    """Number formats of weights and activations: f32, w8a8, w4a8; w8a8kv8, w4a8kv8: keys and values of 8 bits, too."""

    layers: int
    """Layers that a launch runs, one after the other."""

    ports: str
    """What inputs and results are: f32, or i8, integers in steps that `design.json` names."""


@dataclass(frozen=True, kw_only=True)
class FieldProblem:
    """What is wrong with one field."""

    pointer: str
    """Its place in the body (#/a/b), or the parameter (query.a)."""

    detail: str
    """What is wrong with it."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An RFC 9457 problem document, the body of every answer from 400 on."""

    type: str
    """urn:millrace:problem: and the kind of problem; programs tell problems apart by it."""

    title: str
    """The kind, in words."""

    status: int
    """The HTTP status."""

    detail: str
    """What was wrong this time, and what to do."""

    errors: list[FieldProblem] = field(default_factory=list[FieldProblem])
    """Single fields that were wrong."""
