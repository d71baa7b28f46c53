"""Sizes that a run of the program tells."""
