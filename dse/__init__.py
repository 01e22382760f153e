"""Design-space exploration: the space, the search, the Pareto archive."""
