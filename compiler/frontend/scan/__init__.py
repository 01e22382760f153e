"""What a file says of itself before anything is made of it: plain Python, linear, at the door and in an import."""
