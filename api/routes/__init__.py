"""Routes: each parses, calls one service function, and shapes the reply."""
