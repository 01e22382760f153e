"""How far the area model is from csynth and from routed kernels, on designs that the fit did not see.

python -m bench.calibration ../shared/fixtures/vitis
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from compiler.calibration.calibrate import Calibration, calibrate
from compiler.calibration.errors import Spread
from compiler.calibration.samples import coefficients_of
from compiler.platforms.platform import load_platform


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=Path, help="folder with reports and tables (derived/) of real builds")
    parser.add_argument("--platform", default="u55c")
    args = parser.parse_args()
    platform = load_platform(args.platform)
    found = calibrate(platform, [], args.reports)
    assert found.before == coefficients_of(platform.area)
    print(f"{found.summary}; {len(found.skipped)} files passed over\n")
    header = ("class", "resource", "samples", "designs", "platform", "fitted to other designs", "to other sources")
    print_table(header, errors(found))
    print_table(("coefficient", "LUT", "FF", "LUT of the platform", "FF of the platform"), coefficients(found))
    rows = ((n, f"{f.factor:.2f}", f"{f.low:.2f} - {f.high:.2f}") for n, f in found.routed.items())
    print_table(("routed / csynth", "median", "four fifths of the kernels"), rows)
    if found.latency is not None:
        t = found.latency
        row = (str(t.n), f"{t.median:.3f}", str(t.within_2_percent), f"{t.low:.2f}", f"{t.p90:.2f}", f"{t.high:.2f}")
        names = ("designs", "cosim / csynth cycles, median", "within 2 %", "least", "90th percentile", "most")
        print_table(names, [row])


def errors(found: Calibration) -> Iterable[tuple[str, ...]]:
    """One row a class and resource."""
    for row in found.rows:
        spreads = map(percent, (row.before, row.other_designs, row.other_sources))
        yield row.kind, row.resource, str(row.n), str(row.designs), *spreads


def percent(spread: Spread | None) -> str:
    """Median and 90th percentile of the sizes, median with sign."""
    return "-" if spread is None else f"{spread.median:.1%}, {spread.p90:.1%} ({spread.bias:+.1%})"


def coefficients(found: Calibration) -> Iterable[tuple[str, ...]]:
    """What the fit to all reports gives, beside the platform's."""
    for name, logic in found.coefficients.items():
        before = found.before[name]
        yield name, *(f"{value:.2f}" for value in (*logic, *before))


def print_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """As Markdown."""
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()


if __name__ == "__main__":
    main()
