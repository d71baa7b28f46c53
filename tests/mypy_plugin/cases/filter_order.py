from __future__ import annotations

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)


model = Model(nnx.Rngs(0))

# -- reports
nnx.split(model, ..., nnx.Param)  # E: it must be the last filter  [nnx-filter-order]

# -- correct
nnx.split(model, nnx.Param, ...)
nnx.state(model, ...)


# -- unsure
def any_filter(first: nnx.filterlib.Filter) -> None:
    nnx.split(model, first, nnx.Param)
