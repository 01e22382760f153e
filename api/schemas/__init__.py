"""Bodies of requests and replies under /v1, by topic. Names and units are part of the interface."""
