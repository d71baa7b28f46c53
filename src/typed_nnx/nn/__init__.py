"""Layers: Modules with parameters, and the functions that networks are made of."""
