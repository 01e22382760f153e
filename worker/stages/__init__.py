"""The stages of the farm: each a function of its inputs that returns an outcome."""
