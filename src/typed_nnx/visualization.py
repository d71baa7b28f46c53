"""``nnx.visualization``: `display` under the name of its module."""

from typed_nnx._summary.display import display as display
