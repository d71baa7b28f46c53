"""``nnx-state-mismatch``: States put into a model that they are not of."""
