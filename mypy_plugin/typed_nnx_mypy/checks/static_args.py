"""``nnx-static-args``: static and donated arguments, and what has to be static."""
