"""All SQL of Millrace: one module per aggregate, plain functions of a session."""
