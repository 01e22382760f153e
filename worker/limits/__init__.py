"""What a build may take of its node, and how it is held to that."""
