"""Checkpoints; the public names are in `typed_nnx.training.checkpoint`."""
