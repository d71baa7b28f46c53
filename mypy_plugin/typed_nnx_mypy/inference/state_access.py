"""Attributes and keys of States: ``state.layers[0].kernel``."""
