"""``nnx.dataclass`` with ``nnx.data()`` and ``nnx.static()`` as field specifiers."""
