"""What others have measured of GPT-2 medium: StreamTensor, MICRO 2025, arXiv 2509.13694v2 (CC BY 4.0), table 4."""

from typing import NamedTuple


class Measured(NamedTuple):
    """A reply of somebody's accelerator: ms of all of it and to its first token, tokens a second after that."""

    latency_ms: float
    first_ms: float
    tokens_per_s: float


# By tokens of the prompt and tokens made. W4A8 at 250 MHz on a U55C (StreamTensor) and a U280 (Allo), FP16 at 200 MHz
# on a U280 (DFX), W8A8 on the GPUs.
GPT2_MEDIUM: dict[tuple[int, int], dict[str, Measured]] = {
    (32, 32): {
        "StreamTensor": Measured(194.99, 34.59, 199.51),
        "Allo": Measured(238.32, 81.5, 204.05),
        "DFX": Measured(350.0, 177.2, 185.19),
        "A100": Measured(291.16, 8.72, 113.3),
        "2080Ti": Measured(518.46, 24.98, 64.85),
    },
    (64, 64): {
        "StreamTensor": Measured(358.24, 61.27, 215.51),
        "Allo": Measured(476.64, 162.99, 204.05),
        "DFX": Measured(694.7, 349.1, 185.19),
        "A100": Measured(567.41, 8.76, 114.56),
        "2080Ti": Measured(1010.81, 25.23, 64.94),
    },
    (128, 128): {
        "StreamTensor": Measured(696.65, 125.35, 224.05),
        "Allo": Measured(953.28, 325.98, 204.05),
        "DFX": Measured(1384.0, 692.8, 185.19),
        "A100": Measured(1118.28, 8.65, 115.35),
        "2080Ti": Measured(3969.76, 25.26, 32.45),
    },
    (256, 256): {
        "StreamTensor": Measured(1387.76, 272.85, 229.61),
        "Allo": Measured(1906.56, 651.96, 204.05),
        "DFX": Measured(2800.0, 1417.6, 185.19),
        "A100": Measured(2227.79, 8.53, 115.35),
        "2080Ti": Measured(7914.23, 25.23, 32.45),
    },
}
