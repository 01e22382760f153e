"""What the routes do: plain functions of a farm, a session and parsed values. They never commit."""
