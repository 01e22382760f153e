"""What comes next: the table of stages, the chains of builds, the course of an exploration."""
