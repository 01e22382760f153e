"""The REST interface under /v1 and the dashboard's files."""
