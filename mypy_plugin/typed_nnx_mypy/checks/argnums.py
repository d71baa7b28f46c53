"""``nnx-argnums``: differentiated arguments that are missing or cannot be differentiated."""
