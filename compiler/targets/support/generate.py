#!/usr/bin/env python3
"""Run the whole network on a board: python3 generate.py NETWORK --prefill DESIGN XCLBIN --decode DESIGN XCLBIN

NETWORK is the folder that `millrace generate --out` writes: embedding, head, and every layer's parameters. The prompt
goes through the prefill design, each new token through the decode design. Needs numpy and XRT (pyxrt).
"""

from runtime.run_network import main  # pyright: ignore[reportMissingImports, reportUnknownVariableType] # beside it in a design

if __name__ == "__main__":
    main()
