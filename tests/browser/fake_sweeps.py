"""The stand-in's sweeps: one that went red, one that is green, one that never ran."""

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from fake_builds import NO_NODE, ago

if TYPE_CHECKING:
    from fake_api import Design, Exploration, Handler

Json = dict[str, Any]
_DAY = 86_400
_CAUSE = {"what": "tool vitis_hls", "before": "2023.2", "after": "2024.1", "stages": ["csynth", "cosim", "link"]}
_OPTION = {"what": "option clock_mhz", "before": "300", "after": "250", "stages": ["csynth"]}
_SLOT = "gpt2 decode 64 w4a8 u55c"
_VOLUME = {"hypervolume_before": 14.2, "hypervolume_after": 13.29, "change": -0.064}


def _run(id_: str, sweep: str, state: str, age: float, index: float | None, **values: Any) -> Json:
    return {
        "id": id_,
        "sweep_id": sweep,
        "state": state,
        "cause": "schedule",
        "scheduled_for": ago(age),
        "baseline_id": None,
        "explorations": 2,
        "ended": 2,
        "builds": {"ran": 34, "cached": 112},
        "regression_count": 0,
        "improvement_count": 0,
        "index": index,
        "tool_versions": {"vitis_hls": "2023.2", "g++": "12.2.0"},
        "error": None,
        "accepted": None,
        "webhook": None,
        "created_at": ago(age),
        "finished_at": ago(age - 3100),
        **values,
    }


def _sweep(id_: str, name: str, model: Json, **values: Any) -> Json:
    workload = {"phase": "decode", "length": 64, "batch": 1, "precision": "w4a8", "layers": 1}
    tomorrow = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return {
        "id": id_,
        "name": name,
        "cron": "0 3 * * *",
        "zone": "Europe/Berlin",
        "misfire": "skip",
        "enabled": True,
        "next_at": tomorrow.isoformat(),
        "matrix": {
            "workloads": [
                {"id": "wkl_1", "model": model, **workload},
                {"id": "wkl_2", "model": model, **workload, "length": 512},
            ],
            "platforms": ["u55c"],
            "seeds": [0],
            "samplers": ["front"],
        },
        "explorations": 2,
        "options": {"budget": 300, "tolerance": 0.02},
        "webhook": None,
        "signed": False,
        "owner": None,
        "last_run": None,
        "warnings": [],
        "created_at": ago(30 * _DAY),
        **values,
    }


class Sweeps:
    """All sweeps and their runs, newest first; `before` and `after` are the explorations that the red run compares."""

    def __init__(self, model: Json, before: "Exploration", after: "Exploration") -> None:
        chance = random.Random(4)
        self.sweeps = {
            s["id"]: s
            for s in (
                _sweep("swp_1", "nightly", model),
                _sweep("swp_2", "weekly", model, warnings=[NO_NODE]),
                _sweep("swp_3", "release", model, enabled=False, next_at=None),
            )
        }
        self.runs: dict[str, list[Json]] = {id_: [] for id_ in self.sweeps}
        index = 1.0
        for day in range(24, 1, -1):
            moved = day % 5 == 0
            index *= 1 + (chance.uniform(-0.01, 0.02) if moved else 0)
            state = "failed" if day == 12 else "changed" if moved else "same"
            error = "gpt2 decode 512: the node was lost four times" if day == 12 else None
            self.runs["swp_1"].insert(
                0, _run(f"run_1{day:02d}", "swp_1", state, day * _DAY, None if day == 12 else index, error=error)
            )
        red = _run(
            "run_red",
            "swp_1",
            "regressed",
            _DAY / 3,
            index * 0.936,
            baseline_id="run_102",
            regression_count=4,
            improvement_count=1,
        )
        red["tool_versions"] = {"vitis_hls": "2024.1", "g++": "12.2.0"}
        self.runs["swp_1"].insert(0, red)
        self.runs["swp_2"].insert(0, _run("run_201", "swp_2", "same", 3 * _DAY, 1.0))
        self.details = {"run_red": comparison(before, after)}

    def shape(self, id_: str) -> Json:
        runs = self.runs[id_]
        return {**self.sweeps[id_], "last_run": runs[0] if runs else None}

    def run(self, id_: str) -> Json | None:
        found = next((r for runs in self.runs.values() for r in runs if r["id"] == id_), None)
        if found is None:
            return None
        empty = {"regressions": [], "improvements": [], "slots": []}
        sweep = self.sweeps[found["sweep_id"]]
        return {
            **found,
            "sweep": sweep["name"],
            "warnings": sweep["warnings"] if found["state"] == "running" else [],
            "tolerance": 0.02,
            **self.details.get(id_, empty),
        }


def comparison(before: "Exploration", after: "Exploration") -> Json:
    """A run that lost points, found one, and whose front moved; `before` and `after` have the same designs."""
    old = sorted((d for d in before.designs.values() if d.on_front), key=lambda d: d.latency_us)
    new = sorted((d for d in after.designs.values() if d.on_front), key=lambda d: d.latency_us)
    front = _front(old, new)
    same = {"new": [], "new_count": 0, "lost": [], "lost_count": 0, "moved": [], "moved_count": 0}
    unmoved = {**front, **same, "change": 0.0, "after": len(old)}
    other = {
        "state": "done", "error": None, "objectives": before.row["objectives"], "differences": [], "changes": [],
        "difference_count": 0, "baseline_exploration": before.id,
    }  # fmt: skip
    still = {"slot": _SLOT.replace("64", "512"), "exploration": before.id, "result": "same", "fronts": [unmoved]}
    red = {"slot": _SLOT, "exploration": after.id, "result": "regressed", "fronts": [front]}
    return {
        **_judged(after.id, new[0]),
        "slots": [{**other, **still}, {**other, **red, "changes": [_CAUSE, _OPTION], "difference_count": 17}],
    }


def _front(old: "list[Design]", new: "list[Design]") -> Json:
    keys, were = {d.number for d in new}, {d.number: d for d in old}
    objectives = lambda d: [d.latency_us, d.energy_uj]  # noqa: E731
    point = lambda d: {"id": d.id, "number": d.number, "objectives": objectives(d)}  # noqa: E731
    moved = [
        {"id": d.id, "number": d.number, "before": objectives(were[d.number]), "after": objectives(d)}
        for d in new
        if d.number in were and were[d.number].latency_us != d.latency_us
    ]
    lost, fresh = [point(d) for d in old if d.number not in keys], [point(d) for d in new if d.number not in were]
    counted = {"new": fresh, "lost": lost, "moved": moved}
    return {
        "fidelity": "estimate",
        "before": len(old),
        "after": len(new),
        **_VOLUME,
        **counted,
        **{f"{name}_count": len(points) for name, points in counted.items()},
    }


def _judged(exploration: str, design: "Design") -> Json:
    """What got worse, and better: a metric of each kind."""
    metric = {
        "slot": _SLOT, "exploration": exploration, "kind": "metric", "stage": "csynth", "fidelity": "csynth",
        "design": {"id": design.id, "number": design.number},
    }  # fmt: skip
    latency = _change("latency", "us", 412.0, 437.5, 0.0619, [_CAUSE])
    lut = _change("lut", "LUT", 401_220.0, 431_902.0, 0.0765, [_CAUSE, _OPTION])
    volume = _change("hypervolume", None, 14.2, 13.29, -0.064, [])
    volume |= {"kind": "hypervolume", "stage": None, "fidelity": "estimate"}
    text = (
        f"design {design.number} (front) passed link and fails now: timing: worst slack -1.9 ns; "
        "tool vitis_hls 2023.2 -> 2024.1"
    )
    link = {"kind": "stage", "stage": "link", "fidelity": None, **_change(None, None, None, None, None, [_CAUSE])}
    better = {**metric, **_change("dsp", "DSP", 1200.0, 1140.0, -0.05, []), "front": True, "worse": False}
    for name in ("causes", "exploration", "kind", "stage"):
        del better[name]
    return {
        "regressions": [
            {**metric, "text": text, **link},
            *({**metric, "text": "", **m} for m in (latency, lut, volume)),
        ],
        "improvements": [better],
    }


def _change(
    metric: str | None,
    unit: str | None,
    before: float | None,
    after: float | None,
    change: float | None,
    causes: list[Json],
) -> Json:
    return {"metric": metric, "unit": unit, "before": before, "after": after, "change": change, "causes": causes}


def _known(h: "Handler", id_: str) -> Json:
    sweeps = h.world.sweeps
    return sweeps.shape(id_) if sweeps and id_ in sweeps.sweeps else h.nothing(f"there is no sweep {id_}")


def get_sweeps(h: "Handler", _query: Json) -> None:
    h.page([h.world.sweeps.shape(id_) for id_ in h.world.sweeps.sweeps] if h.world.sweeps else [])


def get_sweep(h: "Handler", _query: Json, id_: str) -> None:
    h.json(_known(h, id_))


def get_runs(h: "Handler", _query: Json, id_: str) -> None:
    h.page(h.world.sweeps.runs[_known(h, id_)["id"]] if h.world.sweeps else [])


def get_run(h: "Handler", _query: Json, id_: str) -> None:
    found = h.world.sweeps.run(id_) if h.world.sweeps else None
    h.json(found if found is not None else h.nothing(f"there is no run {id_}"))


def post_accept(h: "Handler", _body: Json, id_: str) -> None:
    run = next(r for r in h.world.sweeps.runs["swp_1"] if r["id"] == id_) if h.world.sweeps else {}
    run["accepted"] = {"who": None, "at": ago(0)}
    get_run(h, {}, id_)


def post_run(h: "Handler", _body: Json, id_: str) -> None:
    run = _run(
        "run_now", id_, "running", 0, None, finished_at=None, ended=0, builds=None, cause="manual", scheduled_for=None
    )
    if h.world.sweeps:
        h.world.sweeps.runs[id_].insert(0, run)
    h.json(run, 202)


GET_ROUTES = {
    r"/v1/sweeps": get_sweeps,
    r"/v1/sweeps/([^/]+)": get_sweep,
    r"/v1/sweeps/([^/]+)/runs": get_runs,
    r"/v1/sweep-runs/([^/]+)": get_run,
}


def post_sweep(h: "Handler", body: Json) -> None:
    sweeps = h.world.sweeps
    assert sweeps is not None
    id_ = f"swp_{len(sweeps.sweeps) + 1}"
    sweeps.sweeps[id_] = _sweep(id_, body["name"], {"id": "mdl_01", "name": "gpt2", "kind": "builtin"})
    sweeps.runs[id_] = []
    h.json(sweeps.shape(id_), 202)


POST_ROUTES = {
    r"/v1/sweeps": post_sweep,
    r"/v1/sweeps/([^/]+)/run": post_run,
    r"/v1/sweep-runs/([^/]+)/accept": post_accept,
}
