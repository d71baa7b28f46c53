"""Transforms of Linen within modules: scan, vmap, remat, jit and what they are in NNX."""
