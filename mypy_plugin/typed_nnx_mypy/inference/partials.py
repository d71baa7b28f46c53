"""``functools.partial(nnx.jit, ...)`` and other transforms that are given in part."""
