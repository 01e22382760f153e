"""A network from a file, imported as it is, in integers: with calibration data, a reference, and its distance."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.frontend.imported import Imported, Sample
from compiler.frontend.integers.quantise import in_steps, quantise
from compiler.frontend.integers.samples import Shapes, read_samples
from compiler.frontend.interpret import interpret, outputs_of
from compiler.frontend.seeds import seeded
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Ports, Precision

Array = NDArray[Any]
SAMPLES = 32  # seeded, of each input


def in_integers(
    graph: LinalgGraph, imported: Imported, precision: Precision, samples: Path | None = None, ports: Ports = "f32"
) -> tuple[LinalgGraph, Imported, dict[str, object]]:
    """The network in integers, calibrated with the file of `samples` or seeded ones, what is imported of it, and how it
    was quantised, for `meta.json`, with the scale of each port of integers. Raises InvalidInputError for samples that
    are none. The reference is the interpreter; how far its results are from those of the network as it was is said with
    it.
    """
    inputs = {v.source: imported.tensors[v.source].shape for v in graph.values if v.role in ("input", "state")}
    given = _seeded_samples(inputs) if samples is None else read_samples(samples, inputs)
    made = quantise(graph, imported.tensors, given, precision, ports)
    tensors = {**imported.tensors, **made.tensors}
    expected = outputs_of(made.graph, interpret(made.graph, tensors))
    others = tuple(
        Sample(other, outputs_of(made.graph, interpret(made.graph, {**tensors, **other})))
        for other in (_as_given(sample.given, made.ports) for sample in imported.others)
    )
    errors = {
        name: _error(expected[name] * made.ports.get(name, 1.0), exact) for name, exact in imported.expected.items()
    }
    worst = max(errors.values(), key=lambda error: error["rms"])
    reference = (
        f"Millrace's interpreter of the network in integers, which is {100 * worst['rms']:.2g} % (rms) and at most "
        f"{100 * worst['largest']:.2g} % off {imported.reference} in f32"
    )
    found: dict[str, object] = {
        "calibration": f"{len(given)} {'seeded samples' if samples is None else 'samples given'} of each input",
        "integer_products": made.products,
        "float_products": list(made.left),
        "error": errors,
        "port_scales": made.ports,
    }
    quantised = replace(imported, tensors=tensors, expected=expected, reference=reference, others=others)
    return made.graph, quantised, {"quantised": found}


def _as_given(tensors: Mapping[str, Array], scales: Mapping[str, float]) -> dict[str, Array]:
    """What the ports are given, in integers where they have a scale."""
    return {name: in_steps(array, scales[name]) if name in scales else array for name, array in tensors.items()}


def _seeded_samples(inputs: Shapes) -> list[dict[str, Array]]:
    """Other numbers than those that a design is compared with."""
    return [
        {name: seeded(f"calibration {number} {name}", shape) for name, shape in inputs.items()}
        for number in range(SAMPLES)
    ]


def _error(got: Array, exact: Array) -> dict[str, float]:
    """The difference as a share of the exact result: of its root mean square, and the largest of its largest."""
    off, exact = got.astype(np.float64) - exact, exact.astype(np.float64)
    least = float(np.finfo(np.float32).tiny)
    return {
        "rms": float(np.sqrt(np.mean(off**2)) / max(np.sqrt(np.mean(exact**2)), least)),
        "largest": float(np.abs(off).max() / max(np.abs(exact).max(), least)),
    }
