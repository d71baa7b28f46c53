"""Migrates flax.linen modules to eager NNX modules."""
