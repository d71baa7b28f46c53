"""``nnx.graph``: the older name of ``nnx.graphlib``."""

from typed_nnx.graphlib import *  # noqa: F403  # the same names
