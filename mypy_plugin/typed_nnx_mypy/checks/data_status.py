"""``nnx-data-status``: static attributes that become data, and the reverse."""
