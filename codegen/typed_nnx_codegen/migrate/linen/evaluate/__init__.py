"""Evaluates the methods of a Linen module symbolically."""
