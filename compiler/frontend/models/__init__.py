"""The model families that Millrace can import, as small torch modules of our own, and their checked configurations."""
