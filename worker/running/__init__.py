"""A build being run: claimed, given to a warm process, watched, and its outcome recorded."""
