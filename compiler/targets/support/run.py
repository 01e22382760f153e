#!/usr/bin/env python3
"""Run this design once on a board: python3 run.py DESIGN.xclbin [--device 0] [--repeat 1]

Reads params/manifest.json beside this folder, puts the packed parameters and inputs into HBM, runs the kernels in
sequence and writes the results to out/, as C simulation does. Needs numpy and XRT with its Python module (pyxrt).
"""

from runtime.run_design import main  # pyright: ignore[reportMissingImports, reportUnknownVariableType] # beside it in a design

if __name__ == "__main__":
    main()
