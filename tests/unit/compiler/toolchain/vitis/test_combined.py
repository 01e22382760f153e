"""Figures of a design from those of its kernels."""

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.vitis.combined import figures, of_design


def kernel(**values: float) -> tuple[Metric, ...]:
    return tuple(Metric(name, value, "", Fidelity.CSYNTH, "vitis_hls", "2023.2") for name, value in values.items())


def test_areas_and_latencies_add_up_and_the_slowest_counts() -> None:
    both = of_design([kernel(lut=10, cycles=5, fmax=300, slack=0.2), kernel(lut=20, cycles=7, fmax=250, slack=-0.1)])
    assert figures(both) == {"lut": 30, "cycles": 12, "fmax": 250, "slack": -0.1}


def test_what_one_kernel_does_not_know_the_design_does_not() -> None:
    assert figures(of_design([kernel(lut=10, cycles=5), kernel(lut=20)])) == {"lut": 30}


def test_a_figure_without_a_rule_is_that_of_a_single_kernel() -> None:
    assert figures(of_design([kernel(interval=5)])) == {"interval": 5}
    assert of_design([kernel(interval=5), kernel(interval=5)]) == ()
    assert of_design([]) == ()
