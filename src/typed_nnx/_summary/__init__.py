"""Summaries of models: `tabulate` and `display`."""
