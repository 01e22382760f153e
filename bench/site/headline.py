"""Three numbers of the first page beside the paper's: tokens a second, time to the first token, bytes on chip.

python -m bench.site.headline    # a minute, after bench.site.gallery, whose designs it takes; writes headline.json

The first two are the simulated latency of the fastest design of one layer in the gallery, times the layers: the
accelerator alone, as the paper reports its own. The paper's are measured on a U55C.
"""

from typing import Any

from bench.onchip import measure
from bench.site.kept import keep, kept

LAYERS, LENGTH, TILE = 24, 128, 4
# StreamTensor (arXiv:2509.13694v2): table 4, row 64:64 of GPT-2; and the shares of intermediates after fusion.
PAPER = {"tokens_per_s": 215.51, "first_token_ms": 61.27, "on_chip_percent": [14.8, 16.8]}


def _latency_us(name: str) -> float:
    [entry] = [entry for entry in kept("gallery")["entries"] if entry["name"] == name]
    return min(design["simulate"]["latency"] for design in entry["designs"])


def numbers() -> dict[str, Any]:
    """Ours, with the fidelity of each."""
    row = measure("gpt2-medium", "w4a8", LENGTH, TILE, certified=False)
    return {
        "tokens_per_s": {"value": round(1e6 / (LAYERS * _latency_us("gpt2-medium-decode"))), "fidelity": "simulate"},
        "first_token_ms": {
            "value": round(LAYERS * _latency_us("gpt2-medium-prefill") * 1e-3, 1),
            "fidelity": "simulate",
        },
        "on_chip_percent": {"value": round(100 * row.ours.total / row.before, 1), "fidelity": "estimate"},
    }


def table() -> str:
    """The numbers beside the paper's, as Markdown."""
    ours = kept("headline")["ours"]
    low, high = PAPER["on_chip_percent"]
    rows = (
        (
            "tokens a second with 128 positions (more is better)",
            "tokens_per_s",
            f"{PAPER['tokens_per_s']:.0f}, measured",
        ),
        (
            "ms to the first token, prompt of 64 (less is better)",
            "first_token_ms",
            f"{PAPER['first_token_ms']:.1f}, measured",
        ),
        (
            "% of a layer's intermediates that need on-chip memory (less is better)",
            "on_chip_percent",
            f"{low} to {high} over its networks, computed",
        ),
    )
    lines = ["| GPT-2 medium, W4A8, U55C | Millrace | StreamTensor |", "|---|---|---|"]
    lines += [
        f"| {text} | {ours[key]['value']:g}, `{ours[key]['fidelity']}` | {theirs} |" for text, key, theirs in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    keep("headline", {"paper": PAPER, "ours": numbers()})
    print(table())


if __name__ == "__main__":
    main()
