"""Writes the planned modules."""
