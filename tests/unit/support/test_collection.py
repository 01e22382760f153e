"""What every worker loads before its first test, whichever tests it will run."""


def test_collecting_loads_no_torch(collected_with: set[str]) -> None:
    """A test that needs it imports it, or what does, in its function: that takes longer than to collect the rest."""
    assert "pytest" in collected_with
    assert not {"torch", "torch_mlir", "transformers"} & collected_with
