"""Quantisation: groups, rounding, ranges."""

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("inputs", "granules", "expected"),
    [
        (768, (), 128), (768, (64,), 128), (1024, (64,), 128), (3072, (), 128), (1280, (80,), 80), (1600, (64,), 64),
        (64, (16,), 64), (96, (48,), 96), (100, (), 100), (320, (), 80), (127 * 2, (), 127), (131, (), 1),
        (192, (192,), 96), (896, (64, 448), 64), (2048, (64, 512), 128), (1024, (256, 1024), 128), (96, (16, 48), 96),
    ],
)  # fmt: skip
def test_group_size(inputs: int, granules: tuple[int, ...], expected: int) -> None:
    from compiler.frontend.quantise import group_size

    assert group_size(inputs, granules) == expected


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


def test_two_digits_of_four_bits_are_a_weight_of_eight() -> None:
    """To 119 at most, which the largest high and low digit make."""
    import torch

    from compiler.frontend.quantise import quantise_in_digits, quantise_weight

    weight = torch.randn(32, 5, generator=torch.Generator().manual_seed(0))
    weight[:16, 2] = 0.0
    weight[16:, 3] = -weight[16:, 3].abs()
    made, whole = quantise_in_digits(weight, 16), quantise_weight(weight, 16, 8, top=119)
    assert made.bits == 4
    high, low = made.integers.unbind(2)
    assert (int(made.integers.min()), int(made.integers.max())) == (-8, 7)
    assert torch.equal(high * 16 + low, whole.integers)
    assert (int(whole.integers.min()), int(whole.integers.max())) == (-119, 119)
    assert torch.equal(made.scales, torch.stack([whole.scales * 16, whole.scales]))
    every = torch.arange(-119, 120).float().unsqueeze(1)
    integers = quantise_in_digits(every, 239).integers[0, :, :, 0]
    assert (integers.abs().max(), integers[0].tolist(), integers[-1].tolist()) == (8, [-7, -7], [7, 7])
    assert torch.equal(integers.float() @ torch.tensor([16.0, 1.0]), every[:, 0])


def test_products_with_digits_are_those_with_weights_of_eight_bits() -> None:
    """Of the digits of each group, each by its own scale, and then of both."""
    import torch

    from compiler.frontend.quantise import QuantisedLinear, quantise_in_digits, quantise_weight

    drawing = torch.Generator().manual_seed(0)
    weight, x = torch.randn(32, 5, generator=drawing), torch.randn(1, 3, 32, generator=drawing)
    digits, whole = quantise_in_digits(weight, 16), quantise_weight(weight, 16, 8, top=119)
    found, expected = (QuantisedLinear(w, 0.03, None)(x) for w in (digits, whole))
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("digits", [False, True])
def test_products_of_floats_are_those_of_integers(digits: bool) -> None:
    """With the largest sums that there are: a group of 128 whose weights and rows are all the largest."""
    import torch

    from compiler.frontend.quantise import IntegerProduct, in_floats, quantise_in_digits, quantise_weight

    drawing = torch.Generator().manual_seed(0)
    weight, rows = torch.randn(256, 5, generator=drawing), torch.randint(-127, 128, (1, 3, 256), generator=drawing)
    weight[:128, 1], rows[:, 2] = 4.0, 127
    product = IntegerProduct(quantise_in_digits(weight, 128) if digits else quantise_weight(weight, 128, 8), 0.03, None)
    expected, seen = product(rows.to(torch.int8)), list[torch.dtype]()
    product.dequantise.register_forward_pre_hook(lambda _, given: seen.append(given[0].dtype))
    in_floats(torch.nn.Sequential(product))
    assert torch.equal(product(rows.to(torch.int8)), expected)
    assert seen == [torch.float32]
    assert set(product.state_dict()) == {"weight", "weight_scale"}


def test_activations_round_half_to_even_and_clamp() -> None:
    import torch

    from compiler.frontend.quantise import Quantise

    made = Quantise(1.0)(torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 1e9, -1e9]))
    assert made.tolist() == [0, 2, 2, 0, -2, 126, 127, 127, -127]


def test_layers_that_share_an_input_are_quantised_as_each_alone() -> None:
    """One quantiser for all of them, the same integers and results; biases and weights stay their own."""
    import torch

    from compiler.frontend.models.parts import Linear, Linears
    from compiler.frontend.quantise import Quantise, calibrate, int4_weights, quantised
    from compiler.frontend.torch_types import modules_of

    torch.manual_seed(0)
    both, alone = Linears(32, {"a": 6, "b": 5}, bias=True), Linear(32, 6)
    with torch.no_grad():
        for parameter in both.parameters():
            parameter.copy_(torch.randn(parameter.shape))
        alone.load_state_dict(both.get_submodule("a").state_dict())
    x = torch.randn(1, 3, 32)
    exact = both(x)
    network = torch.nn.Sequential(both)
    made = quantised(network, calibrate(network, (x,)), "w8a8")(x)
    single = torch.nn.Sequential(alone)
    torch.testing.assert_close(made[0], quantised(single, calibrate(single, (x,)), "w8a8")(x), rtol=0, atol=0)
    assert [y.shape for y in made] == [(1, 3, 6), (1, 3, 5)]
    for quantised_one, exact_one in zip(made, exact, strict=True):
        assert 0 < float((quantised_one - exact_one).abs().max()) < 0.02 * float(exact_one.abs().max())
    assert len(modules_of(network, Quantise)) == 1
    assert int4_weights(network) == ()


def test_a_head_keeps_eight_bits_and_its_vocabulary() -> None:
    """At four bits it alone would err more than all the blocks (bench/head_error.py)."""
    import torch

    from compiler.frontend.models.head import Head
    from compiler.frontend.models.parts import Linear, RmsNorm
    from compiler.frontend.quantise import calibrate, int4_weights, quantised

    torch.manual_seed(0)
    vocabulary, x = torch.randn(50, 32), torch.randn(1, 4, 32)
    head = Head(RmsNorm(32, 1e-6), vocabulary, cap=3.0)
    assert [name for name, _ in head.named_parameters()] == ["norm.weight"]  # the vocabulary is not its own
    alone = Linear(32, 32)
    torch.nn.init.eye_(alone.weight)
    network = torch.nn.Sequential(alone, head)
    exact = head.logits(x)
    assert float(exact.abs().max()) < 3.0
    torch.testing.assert_close(exact, torch.tanh(head.norm(x) @ vocabulary.T / 3) * 3)
    assert torch.equal(network(x), exact.argmax(-1).int())
    quantised(network, calibrate(network, (x,)), "w4a8")
    assert int4_weights(network) == ("0.weight", "1.head.weight")  # of two digits
    assert 0 < float((head.logits(x) - exact).abs().max()) < 0.2
