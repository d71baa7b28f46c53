"""``nnx-static-data``: arrays, Variables and Modules in ``nnx.static``."""
