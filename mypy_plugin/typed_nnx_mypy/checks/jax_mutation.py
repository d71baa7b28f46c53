"""``nnx-jax-mutation``: outer Modules changed under a transform of jax."""
