"""One machine of the farm: what it can do, how it joins, what it looks after."""
