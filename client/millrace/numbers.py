"""Numbers as people read them."""


def number(value: float) -> str:
    """A quantity with four digits, or all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
