"""``nnx-filter-coverage``: the filters of a split that leave fields over."""
