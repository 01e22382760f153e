"""Tables, repositories and migrations. Knows SQL and nothing else of Millrace."""
