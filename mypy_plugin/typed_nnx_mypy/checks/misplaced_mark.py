"""``nnx-misplaced-mark``: ``nnx.data`` and ``nnx.static`` that mark no attribute."""
