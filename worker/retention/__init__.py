"""What is stored expires by policy: `retaining` takes it away, `schedule` says when."""
