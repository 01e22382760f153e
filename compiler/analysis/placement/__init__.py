"""Where things are on the board: die of each task, HBM channel of each port, what loads ahead of its use."""
