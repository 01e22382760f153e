"""Quantisation: groups, rounding, ranges."""

import pytest


@pytest.mark.parametrize(
    ("inputs", "granule", "expected"),
    [
        (768, 1, 128), (768, 64, 128), (1024, 64, 128), (3072, 1, 128), (1280, 80, 80), (1600, 64, 64), (64, 16, 64),
        (96, 48, 96), (100, 1, 100), (320, 1, 80), (127 * 2, 1, 127), (131, 1, 1), (192, 192, 96),
    ],
)  # fmt: skip
def test_group_size(inputs: int, granule: int, expected: int) -> None:
    from compiler.frontend.quantise import group_size

    assert group_size(inputs, granule) == expected


def test_weights_are_symmetric_and_near() -> None:
    import torch

    from compiler.frontend.quantise import quantise_weight

    weight = torch.randn(32, 5, generator=torch.Generator().manual_seed(0))
    weight[:16, 2] = 0.0
    for bits, top in ((4, 7), (8, 127)):
        made = quantise_weight(weight, 16, bits)
        assert made.integers.shape == (2, 16, 5)
        assert made.scales.shape == (2, 5)
        assert made.scales[0, 2] == 1.0
        assert made.integers.abs().max() == top
        back = (made.integers * made.scales.unsqueeze(1)).reshape(32, 5)
        assert ((back - weight).abs() <= made.scales.repeat_interleave(16, 0) * 0.5001).all()


def test_activations_round_half_to_even_and_clamp() -> None:
    import torch

    from compiler.frontend.quantise import Quantise

    made = Quantise()(torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 1e9, -1e9]))
    assert made.tolist() == [0, 2, 2, 0, -2, 126, 127, 127, -127]
