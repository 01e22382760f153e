"""The clock model: its rows, coefficients, and errors on designs that the fit did not see, beside those of one clock.

python -m bench.clock ../shared/fixtures/vitis
"""

import argparse
from pathlib import Path
from statistics import fmean

from bench.calibration import print_table
from compiler.calibration.clock import determined, fitted, fitted_constant, left_out, published_rows, table_rows
from compiler.platforms.clock import COEFFICIENTS
from compiler.platforms.platform import load_platform


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=Path, help="folder with tables (derived/) of real builds")
    args = parser.parse_args()
    rows = [*table_rows(args.reports / "derived" / "u55c_hls_vs_routed.csv", load_platform("u55c")), *published_rows()]
    model, constant = fitted(rows), fitted_constant(rows)
    errors, plain = left_out(rows, fitted), left_out(rows, fitted_constant)
    print_table(
        ("design", "MHz", "fill", "crossed", "model", "left out", "one clock, left out"),
        [
            (
                row.design,
                f"{'>= ' if row.reached else ''}{row.mhz:.0f}",
                f"{row.fill:.2f}",
                "registered" if row.registered else "yes" if row.crossed else "",
                f"{model.mhz(row.shape):.0f}",
                "" if row.reached else f"{errors[row.design]:+.0f}",
                "" if row.reached else f"{plain[row.design]:+.0f}",
            )
            for row in rows
        ],
    )
    for name, value in zip(COEFFICIENTS, model.values, strict=True):
        print(f"{name:10} {value:.3f} ns{'' if name in determined(model) else '   not determined by any row'}")
    print(f"one clock {1e3 / constant.base:.0f} MHz")
    for name, found in (("model", errors), ("one clock", plain)):
        sizes = [abs(error) for error in found.values()]
        squared = fmean(size**2 for size in sizes) ** 0.5
        print(f"left out, {name:9} mean error {fmean(sizes):.1f} MHz, root mean square {squared:.1f}")


if __name__ == "__main__":
    main()
