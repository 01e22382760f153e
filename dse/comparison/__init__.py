"""Results of two runs compared: fronts, metrics, likely causes. Nothing here has a part in a search."""
