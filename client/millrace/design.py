"""One design of an exploration."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from millrace import wire
from millrace.archive import check_free, write_directory
from millrace.client import Client
from millrace.drawing import cell_text, html_table
from millrace.errors import BuildFailedError, UsageError
from millrace.graph import Graph, read_graph
from millrace.states import ENDED

_POLL_S = 0.5
_SHOWN = ("latency_us", "latency_us_simulate", "energy_uj", "lut", "ff", "dsp", "bram36", "uram", "csim")


class Design:
    """A design: `design["lut"]` is its value in that column of the exploration's table.

    What needs work of the service starts it and waits for its end; what was done before is not done again.
    """

    def __init__(self, client: Client, values: Mapping[str, Any]) -> None:
        self._client = client
        self._values = dict(values)

    @property
    def id(self) -> str:
        """The service's, like dsg_01m84jyz17w77yc5sn."""
        return self._values["id"]

    @property
    def values(self) -> dict[str, Any]:
        """Metrics, resources and knobs by column, as they were when the table was read."""
        return dict(self._values)

    @property
    def knobs(self) -> dict[str, Any]:
        """Those columns whose names begin with knob_, without that."""
        prefix = "knob_"
        return {name[len(prefix) :]: value for name, value in self._values.items() if name.startswith(prefix)}

    def __getitem__(self, column: str) -> Any:
        if column not in self._values:
            raise UsageError(f"there is no column {column!r}; the columns are {', '.join(self._values)}")
        return self._values[column]

    def details(self) -> wire.Design:
        """All that the service knows of it now: every metric with tool and fidelity, its ladder and builds."""
        return self._client.design(self.id)

    def simulate(self) -> wire.SimulationSummary:
        """Simulate its timing: the latency, and why the design is refuted where it is. Raises BuildFailedError."""
        build = self._run("simulate")
        found = self.details().simulation
        if found is None or (found.latency_us is None and found.refuted is None):
            raise BuildFailedError(f"design {self.id} could not be simulated: {build.error or build.state}", build)
        return found

    def csim(self) -> wire.CsimSummary:
        """Build its C++ with g++, run it and compare every output with the reference's. Raises BuildFailedError."""
        build = self._run("csim")
        found = self.details().csim
        if found is None or found.passed is None:
            raise BuildFailedError(f"the C simulation of {self.id} could not run: {build.error or build.state}", build)
        return found

    def graph(self) -> Graph:
        """Its tasks and streams; it is simulated first if that was not done. Raises BuildFailedError."""
        if not self.details().dataflow_available:
            self.simulate()
        return read_graph(self._client.artifact(self.id, "dataflow.json"))

    def export(self, directory: str | Path) -> Path:
        """Write the design directory (HLS C++, IR, parameters, host program); compiles it first if need be, with its C
        simulation. The verdict of that is in `csim()`, which does not run it again, and not in the directory.

        Raises UsageError where the directory is not empty, BuildFailedError where the design can not be compiled.
        """
        out = Path(directory)
        check_free(out)
        if not self.details().archive_available:
            build = self._run("csim")
            if not self.details().archive_available:
                raise BuildFailedError(f"design {self.id} could not be compiled: {build.error}", build)
        write_directory(self._client.archive(self.id), out)
        return out

    def _run(self, stage: Literal["simulate", "csim"]) -> wire.Build:
        """Queue a stage and wait until it has ended."""
        build = self._client.start_build(self.id, wire.NewBuild(stage=stage))
        while build.state not in ENDED:
            time.sleep(_POLL_S)
            build = self._client.build(build.id)
        return build

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={cell_text(self._values[name])}" for name in _SHOWN if self._has(name))
        return f"<Design {self.id}: {shown}>"

    def _repr_html_(self) -> str:
        return html_table(("", self.id), [(name, value) for name, value in self._values.items() if value is not None])

    def _has(self, name: str) -> bool:
        return self._values.get(name) is not None
