"""How near designs of whole replies come to the limits of the board."""
