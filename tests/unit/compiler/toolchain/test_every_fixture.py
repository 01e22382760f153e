"""Every report that we have goes through `parse_report`: none is forgotten, and each has its kind and its verdict."""

import pytest
from fixtures import REAL, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.reports import RECOGNISERS, parse_report
from compiler.toolchain.source import read_source

# Kind -> file -> kinds of its failures; None for a file that must be refused.
EXPECTED: dict[str, dict[str, list[str] | None]] = {
    "CsynthReport": {
        "csynth/autobridge_pagerank_2019.2_csynth.xml": ["timing"],
        "csynth/axiotisk_CNN_u55c_2022.2_dataflow_in_loop_csynth.rpt": [],
        "csynth/axiotisk_DNN_u55c_2022.2_kernel_wrapper_csynth.rpt": [],
        "csynth/axiotisk_DNN_u55c_2022.2_kernel_wrapper_csynth.xml": [],
        "csynth/consensus_arp_u280_2022.1_csynth.xml": [],
        "csynth/cookbook_callipepla_u280_2022.2_csynth.xml": [],
        "csynth/dat480_u55c_2023.2_csynth.rpt": ["timing"],
        "csynth/dat480_u55c_2023.2_csynth.xml": ["timing"],
        "csynth/dat480_u55c_2023.2_krnl_proj_split_csynth.rpt": ["timing"],
        "csynth/dat480_u55c_2023.2_krnl_proj_split_csynth.xml": ["timing"],
        "csynth/prometheus_atax3slr_slr1_u55c_2023.2_csynth.xml": [],
        "csynth/prometheus_gemm_u55c_2023.2_kernel_nlp_slr0_csynth.rpt": [],
        "csynth/streamhls_FeedForward_opt1_u280_2023.2_csynth.rpt": ["timing"],
        "csynth/streamhls_FeedForward_opt1_u280_2023.2_csynth.xml": ["timing"],
        "csynth/streamhls_MHSA_opt1_u280_2023.2_csynth.xml": ["timing"],
        "csynth/streamhls_MHSA_opt1_u280_2023.2_forward_csynth.rpt": ["timing"],
        "csynth/streamhls_vitisbaseline_gemm_u280_2023.2_csynth.xml": ["timing"],
        "csynth/superkooks_canny_k26_2025.2_canny_top_csynth.xml": [],
        "csynth/superkooks_canny_k26_2025.2_hls_compile.rpt": [],
        "csynth/syedkit_hls_compile.rpt": ["timing"],
        "csynth/yuan0404_llama2_zu7ev_2024.2_hls_compile.rpt": [],
    },
    "DesignSizeReport": {"csynth/streamhls_FeedForward_opt1_u280_2023.2_csynth_design_size.xml": []},
    "CosimReport": {
        "cosim/streamhls_FeedForward_opt1_pass_cosim.rpt": [],
        "cosim/streamhls_allo_3mm_FAIL_cosim.rpt": ["cosim"],
        "cosim/streamhls_hida_gemm_STUB_cosim.rpt": ["cosim"],
        "cosim/streamhls_hida_gemm_pass_cosim.rpt": [],
        "cosim/superkooks_canny_2025.2_FAIL_hls_cosim.rpt": ["cosim"],
    },
    "DeadlockReport": {
        "cosim/deadlock_excerpt_full_and_empty_fifo.txt": ["deadlock"],
        "cosim/deadlock_excerpt_hwemu_empty_empty.txt": ["deadlock"],
    },
    "KernelUtil": {
        "impl/axiotisk_DNN_u55c_2022.2_kernel_util_routed.rpt": [],
        "impl/dat480_u55c_2023.2_impl_1_kernel_util_routed.rpt": [],
        "impl/dat480_u55c_2023.2_impl_1_kernel_util_routed.xutil": [],
        "impl/dat480_u55c_2023.2_kernel_util_routed.json": [],
        "impl/prometheus_3mm_3SLR_u55c_2023.2_kernel_util_routed.rpt": [],
    },
    "SlrUtil": {
        "impl/dat480_u55c_2023.2_impl_1_slr_util_routed.rpt": [],
        "impl/prometheus_3mm_3SLR_u55c_2023.2_slr_util_routed.rpt": [],
    },
    "TimingSummary": {
        "impl/dat480_u55c_2023.2_dr_timing_summary_MET.rpt": [],
        "impl/prometheus_bicg_3SLR_u55c_2023.2_dr_timing_summary_FAILED.rpt": ["timing"],
    },
    "QorAssessment": {"impl/prometheus_bicg_3SLR_u55c_2023.2_qor_assessment_post_opt.rpt": ["timing"]},
    "SystemEstimate": {"impl/dat480_u55c_2023.2_system_estimate.xtxt": []},
    "VivadoPower": {"power/apollo_zynq_vivado_power.rpt": []},
    "XclbinInfo": {
        "xclbininfo/axiotisk_DNN_u55c_2022.2.xclbin.info": [],
        "xclbininfo/dat480_u55c_2023.2.xclbin.info": [],
        "xclbininfo/terafly_u50_opt1.3b_2023.2.xclbin.info": [],
    },
    "VppLog": {
        "logs/axiotisk_DNN_u55c_2022.2_vpp_compile_OK.log": [],
        "logs/axiotisk_DNN_u55c_2022.2_vpp_link_OK.log": [],
        "logs/heterocl_bert16sa_u280_vpp_link_FAIL_route_congestion.log": ["routing"],
        "logs/heterocl_bert_u280_vpp_link_FAIL_place_overutil.log": ["placement"],
        "logs/prometheus_bicg_3SLR_u55c_2023.2_vpp_link_OK_freqscaled.log": [],
    },
    "HlsLog": {
        "logs/cms_2023.2_vitis_hls_OK_with_ERROR_line.log": [],
        "logs/prometheus_atax_u55c_2023.2_vitis_hls_OK.log": [],
        "logs/stanlee_vitis_hls_FAIL_no_testbench.log": ["c_error"],
    },
    "PowerProfile": {
        "power/zttt_u280_power_profile_idle95s.csv": [],
        "power/zttt_u280_power_profile_short.csv": [],
    },
    "ProfileSummary": {
        "profile/netann_2022.1_summary.csv": [],
        "profile/superkooks_kv260_2025.2_summary.csv": [],
        "profile/terafly_u50_opt1.3b_2023.2_summary.csv": [],
    },
    "RunSummary": {"profile/netann_2022.1_xrt.run_summary": []},
    "Examine": {
        "xbutil/RECONSTRUCTED_NOT_REAL_u55c_examine_thermal_electrical.json": [],
        "xbutil/alveocards_u280_electrical.txt": [],
        "xbutil/alveocards_u50_electrical_thermal.txt": [],
        "xbutil/alveocards_u55c_thermal.txt": [],
        "xbutil/alveocards_u55c_xbmgmt_platform.txt": [],
        "xbutil/exporter_u55c_xrt2.14.354_metrics.prom": [],
        "xbutil/xrt_pr6240_u280_thermal_json_excerpt.txt": None,
        "xbutil/xrt_pr7874_u55c_electrical_excerpt.txt": [],
    },
    "Validation": {"xbutil/alveocards_xbutil_validate_dma_FAIL.txt": ["device"]},
}
FILES = [(kind, name, failures) for kind, files in EXPECTED.items() for name, failures in files.items()]
NO_REPORTS = {"LICENSES", "derived"}
TRACE = "profile/terafly_u50_opt1.3b_2023.2_device_trace.csv"  # of single launches: nothing reads it yet


@pytest.mark.parametrize(("kind", "name", "failures"), FILES)
def test_kind_and_failures(kind: str, name: str, failures: list[str] | None) -> None:
    path = vitis_fixture(name)
    if failures is None:
        with pytest.raises(ReportError, match="truncated"):
            parse_report(path)
        return
    report = parse_report(path)
    assert type(report).__name__ == kind
    assert sorted({f.kind for f in report.failures}) == failures
    assert all(m.tool_version and m.unit for m in report.metrics())


@pytest.mark.parametrize("name", [name for _, name, _ in FILES])
def test_one_kind_alone_recognises_it(name: str) -> None:
    source = read_source(vitis_fixture(name))
    assert len([r.kind for r in RECOGNISERS if r.matches(source)]) == 1


def test_no_file_is_forgotten() -> None:
    vitis_fixture("README.md")
    files = {p.relative_to(REAL).as_posix() for p in REAL.rglob("*") if p.is_file() and p.parent != REAL}
    assert {f for f in files if f.split("/")[0] not in NO_REPORTS} == {TRACE, *(name for _, name, _ in FILES)}


@pytest.mark.parametrize("name", [TRACE, "derived/hls_op_table.csv", "LICENSES/cookbook-MIT.txt", "README.md"])
def test_what_is_no_report_is_refused(name: str) -> None:
    with pytest.raises(ReportError, match=r"is no report that can be read.*give one of: csynth\.xml"):
        parse_report(vitis_fixture(name))
