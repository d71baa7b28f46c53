"""Syntax trees of mypy: what stands around an expression and what a call is given."""
