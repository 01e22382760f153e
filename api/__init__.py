"""The HTTP service: routes parse, call one service function, shape the reply."""
