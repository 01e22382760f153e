"""Running designs without a board."""
