"""What the stand-in's designs have of the fidelities above the simulator: metrics, differences, the ladder."""

from itertools import pairwise
from typing import Any

from fake_builds import STAGES

Json = dict[str, Any]
RANK = ("estimate", "simulate", "csynth", "cosim", "link", "board")


def metric(name: str, value: float, unit: str, fidelity: str, tool: str = "millrace", build: str | None = None) -> Json:
    version = "0.1.0" if tool == "millrace" else "2023.2"
    where = {"fidelity": fidelity, "tool": tool, "tool_version": version, "build_id": build}
    return {"name": name, "value": value, "unit": unit, **where}


def metrics_of(latency_us: float, area: dict[str, int], builds: list[Json]) -> list[Json]:
    """What the builds that are done have added."""
    return [m for build in builds if build["state"] == "done" for m in _of_stage(build, latency_us, area)]


def _of_stage(build: Json, latency_us: float, area: dict[str, int]) -> list[Json]:
    def one(name: str, value: float, unit: str, fidelity: str, tool: str) -> Json:
        return metric(name, value, unit, fidelity, tool, build["id"])

    if build["stage"] == "csynth":
        factors = {"lut": 1.31, "ff": 1.12, "dsp": 0.98, "bram36": 1.04}
        found = [
            one(name, area[name] * factor, name.upper(), "csynth", "vitis_hls") for name, factor in factors.items()
        ]
        return [
            one("latency", latency_us * 1.06, "us", "csynth", "vitis_hls"),
            one("fmax", 342.0, "MHz", "csynth", "vitis_hls"),
            *found,
        ]
    if build["stage"] == "cosim":
        return [one("latency", latency_us * 1.09, "us", "cosim", "vitis_hls")]
    if build["stage"] == "link":
        factors = {"lut": 0.92, "ff": 1.02, "dsp": 0.98, "bram36": 1.01}
        found = [one(name, area[name] * factor, name.upper(), "link", "vivado") for name, factor in factors.items()]
        return [one("clock", 287.4, "MHz", "link", "v++"), one("worst_slack", -0.104, "ns", "link", "vivado"), *found]
    return []


def differences(metrics: list[Json]) -> list[Json]:
    found: list[Json] = []
    for name in dict.fromkeys(m["name"] for m in metrics):
        known = sorted((m for m in metrics if m["name"] == name), key=lambda m: RANK.index(m["fidelity"]))
        for weaker, better in pairwise(known):
            found.append(
                {
                    "metric": name,
                    "unit": better["unit"],
                    "predicted_by": weaker["fidelity"],
                    "predicted": weaker["value"],
                    "fidelity": better["fidelity"],
                    "value": better["value"],
                    "error": weaker["value"] / better["value"] - 1 if better["value"] else None,
                }
            )
    return found


def ladder(builds: list[Json]) -> list[Json]:
    """One rung a stage; `builds` has the newest first."""
    return [_rung(stage, next((b for b in builds if b["stage"] == stage), None)) for stage in STAGES]


def _rung(stage: str, build: Json | None) -> Json:
    columns = ("state", "failure", "error", "waiting", "started_at", "finished_at")
    row: Json = {name: None if build is None else build.get(name) for name in columns}
    passed = None if build is None or build["verdict"] is None else build["verdict"].get("passed")
    return {"stage": stage, "build_id": None if build is None else build["id"], "passed": passed, **row}
