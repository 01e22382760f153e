"""Parts where a careless form would overflow, or compute another thing than its name says."""

import pytest

pytestmark = pytest.mark.slow


def test_silu_has_no_nan() -> None:
    import torch

    from compiler.frontend.models.parts import Silu

    x = torch.tensor([-1e30, -200.0, -5.0, 0.0, 5.0, 200.0, 1e30])
    torch.testing.assert_close(Silu()(x), torch.nn.functional.silu(x))


@pytest.mark.parametrize(("ours", "approximate"), [("GeluTanh", "tanh"), ("Gelu", "none")])
def test_gelu(ours: str, approximate: str) -> None:
    import torch

    from compiler.frontend.models import parts

    x = torch.linspace(-30, 30, 401)
    expected = torch.nn.functional.gelu(x, approximate=approximate)
    torch.testing.assert_close(getattr(parts, ours)()(x), expected, atol=1e-5, rtol=1e-5)


def test_grouped_scores_and_context_equal_repeated_keys() -> None:
    import torch

    from compiler.frontend.models.parts import Context, Scores

    generator = torch.Generator().manual_seed(0)
    query = torch.randn(1, 3, 2, 4, 8, generator=generator)  # rows, heads, group, features
    key, value = (torch.randn(1, 2, 5, 8, generator=generator) for _ in range(2))
    mask = torch.randn(3, 5, generator=generator)
    scores = Scores(0.5, cap=2.0)(query, key, mask)
    flat = query.reshape(1, 3, 8, 8).transpose(1, 2)
    products = flat @ key.repeat_interleave(4, 1).transpose(2, 3) * 0.5
    torch.testing.assert_close(scores.reshape(1, 8, 3, 5), 2.0 * torch.tanh(products / 2.0) + mask)
    expected = (scores.reshape(1, 8, 3, 5) @ value.repeat_interleave(4, 1)).transpose(1, 2).reshape(1, 3, 64)
    torch.testing.assert_close(Context()(scores, value), expected)


def test_rms_norm() -> None:
    import torch

    from compiler.frontend.models.parts import RmsNorm

    norm = RmsNorm(8, 1e-3)
    with torch.no_grad():
        norm.weight.copy_(torch.arange(8.0))
    x = torch.randn(2, 8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(norm(x), torch.nn.functional.rms_norm(x, (8,), torch.arange(8.0), 1e-3))
