"""Rows as replies, by topic as in api.schemas."""
