# runtime: flax
# The signature of typed_nnx says of which model a GraphDef is.
from __future__ import annotations

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)


class Larger(Model):
    """Its GraphDef fits where that of its base is asked for."""


model = Model(nnx.Rngs(0))

# -- reports
nnx.merge(nnx.graphdef(model), nnx.state(model, nnx.Param))  # E: Model has `norm.mean`  [nnx-state-missing]

# -- correct
reveal_type(nnx.merge(nnx.graphdef(model), nnx.state(model)))  # R: Model


def takes_graphdef(graphdef: nnx.GraphDef[Model]) -> None:
    nnx.merge(graphdef, nnx.state(model))


def of_graphdef(larger: Larger) -> Model:
    graphdef = nnx.graphdef(larger)
    reveal_type(nnx.merge(graphdef, nnx.state(larger)))  # R: Larger
    both = [nnx.graphdef(larger), nnx.graphdef(larger)]
    print(len(both))
    takes_graphdef(nnx.graphdef(larger))
    return nnx.merge(graphdef, nnx.state(larger))


of_graphdef(Larger(nnx.Rngs(0)))


# -- unsure
def some_module(module: nnx.Module) -> None:
    merged = nnx.merge(nnx.graphdef(module), nnx.state(module))
    reveal_type(merged)  # R: Any


def kept_graphdef(larger: Larger) -> None:
    graphdef = nnx.graphdef(larger)
    print(graphdef)
    reveal_type(graphdef)  # R: GraphDef[Any]
