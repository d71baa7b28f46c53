"""``nnx-branches``: branches of cond and switch that return different things."""
