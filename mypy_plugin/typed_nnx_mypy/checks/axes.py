"""``nnx-axes``: axes of vmap, pmap and scan that do not fit the parameters."""
