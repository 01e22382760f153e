"""Texts of real runs where they lie beside the checkout, else ours of the same shape."""

from pathlib import Path

_TESTS = Path(__file__).parents[2]
REAL = _TESTS.parents[1] / "shared" / "fixtures" / "vitis"
OURS = _TESTS / "fixtures" / "vitis"

_DEADLOCK = ("cosim/deadlock_excerpt_full_and_empty_fifo.txt", "cosim/deadlock_full.txt")
CSYNTH = ("csynth/dat480_u55c_2023.2_csynth.xml", "csynth/mlp_k0_csynth.xml")
COSIM_PASS = ("cosim/streamhls_FeedForward_opt1_pass_cosim.rpt", "cosim/pass_cosim.rpt")
COSIM_FAIL = ("cosim/streamhls_allo_3mm_FAIL_cosim.rpt", "cosim/fail_cosim.rpt")
KERNEL_UTIL = ("impl/dat480_u55c_2023.2_impl_1_kernel_util_routed.rpt", "impl/small_kernel_util_routed.rpt")
SLR_UTIL = ("impl/dat480_u55c_2023.2_impl_1_slr_util_routed.rpt", "impl/small_slr_util_routed.rpt")
TIMING_MET = ("impl/dat480_u55c_2023.2_dr_timing_summary_MET.rpt", "")
TIMING_MISSED = (
    "impl/prometheus_bicg_3SLR_u55c_2023.2_dr_timing_summary_FAILED.rpt",
    "impl/small_timing_summary_missed.rpt",
)
QOR_BAD = ("impl/prometheus_bicg_3SLR_u55c_2023.2_qor_assessment_post_opt.rpt", "")
QOR_GOOD = ("", "impl/small_qor_assessment.rpt")
POWER = ("", "power/small_vivado_power.rpt")


def text_of(names: tuple[str, str]) -> str | None:
    """The real text, else ours; None where there is neither."""
    for folder, name in zip((REAL, OURS), names, strict=True):
        if name and (folder / name).is_file():
            return (folder / name).read_text(errors="replace")
    return None


def deadlock_text() -> str:
    return text_of(_DEADLOCK) or ""


def qor_bad() -> str:
    """Ours is the good one with another score."""
    good = text_of(QOR_GOOD) or ""
    return text_of(QOR_BAD) or good.replace(
        "4 - Timing will likely meet                   ", "2 - Implementation may complete. Timing will n"
    )


def timing_met() -> str:
    """Ours is the missed one, told to be met."""
    missed = text_of(TIMING_MISSED) or ""
    return text_of(TIMING_MET) or missed.replace(
        "Timing constraints are not met.", "All user specified timing constraints are met."
    ).replace("-0.250       -1.500", " 0.012        0.000")
