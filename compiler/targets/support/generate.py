#!/usr/bin/env python3
"""Run the whole network on a board: python3 generate.py NETWORK XCLBIN

NETWORK is the folder that `millrace generate --out` writes: embedding, head, and every layer's parameters. A launch of
this design takes a token and gives the one that follows. Needs numpy and XRT (pyxrt).
"""

from runtime.run_network import main  # pyright: ignore[reportMissingImports, reportUnknownVariableType] # beside it in a design

if __name__ == "__main__":
    main()
