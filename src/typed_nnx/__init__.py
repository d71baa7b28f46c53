"""NNX neural network modules for JAX."""
