from __future__ import annotations

from typing import Any

import jax
import optax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)


class Declared(nnx.Module):
    some: nnx.Variable[jax.Array]

    def __init__(self) -> None:
        self.some = nnx.Cache(jax.numpy.ones(3))


model = Model(nnx.Rngs(0))

# -- reports
nnx.split(model, nnx.Param)  # E: no filter takes norm.mean  [nnx-filter-coverage]
nnx.state(model, nnx.Param, nnx.BatchStat, nnx.Cache)[1].linear  # E: [nnx-state-excluded]



# A map keeps the keys of its State, and so the name that gets the result is known.
def mapped(model: Model, flag: bool) -> None:
    _, params, rest = nnx.split(model, nnx.Param, ...)
    rest = nnx.map_state(lambda path, leaf: leaf, rest)
    rest.linear  # E: [nnx-state-excluded]
    while flag:
        params.norm.mean  # E: [nnx-state-excluded]
        params = jax.tree.map(lambda leaf: leaf * 2, params)
    params.norm.mean  # E: [nnx-state-excluded]


class Trainer:
    def __init__(self, model: Model) -> None:
        self.graphdef, self.params, _ = nnx.split(model, nnx.Param, ...)

    def step(self) -> None:
        self.params = jax.tree.map(lambda leaf: leaf * 2, self.params)
        self.params.norm.mean  # E: [nnx-state-excluded]

    def stepped(self, updates: Any) -> None:
        self.params = optax.apply_updates(self.params, updates)

    def read(self) -> None:
        self.params.norm.mean  # E: [nnx-state-excluded]


# -- correct
graphdef, everything = nnx.split(model)
reveal_type(graphdef)  # R: GraphDef[Model]
reveal_type(everything.norm.mean)  # R: BatchStat[Array]
_, params, rest = nnx.split(model, nnx.Param, ...)
reveal_type(params.linear.bias)  # R: Param[Array]
reveal_type(rest.norm.mean)  # R: BatchStat[Array]
reveal_type(nnx.merge(graphdef, params, rest))  # R: Model
_, a, b, c, d, e, f, g = nnx.split(
    model, nnx.LoRAParam, nnx.Cache, nnx.RngKey, nnx.RngCount, nnx.BatchStat, nnx.Intermediate, ...
)
reveal_type(e.norm.mean)  # R: BatchStat[Array]
reveal_type(g.linear.bias)  # R: Param[Array]
first, second, third = nnx.state(model, nnx.BatchStat, nnx.Param, ...)
reveal_type(first.norm.mean)  # R: BatchStat[Array]
reveal_type(second.linear.bias)  # R: Param[Array]
reveal_type(nnx.state(model, graph=True).norm.mean)  # R: BatchStat[Array]
both = nnx.state(model, (nnx.Param, nnx.BatchStat))
reveal_type(both.norm.mean)  # R: BatchStat[Array]
stats, left = both.split(nnx.BatchStat, ...)  # E: `State.split` is deprecated  [nnx-deprecated]
reveal_type(stats.norm.mean)  # R: BatchStat[Array]
reveal_type(left.linear.bias)  # R: Param[Array]
reveal_type(nnx.split_state(both, nnx.Param, ...)[1].norm.mean)  # R: BatchStat[Array]
reveal_type(nnx.filter_state(both, nnx.BatchStat).norm.mean)  # R: BatchStat[Array]
reveal_type(nnx.merge_state(params, rest).norm.mean)  # R: BatchStat[Array]
merged = nnx.State.merge(params, rest)  # E: `State.merge` is deprecated  [nnx-deprecated]
reveal_type(merged.linear.bias)  # R: Param[Array]
reveal_type(nnx.clone(model).norm)  # R: BatchNorm
chosen = nnx.All(nnx.Variable, nnx.Not(nnx.Param))
reveal_type(nnx.state(model, chosen).norm.mean)  # R: BatchStat[Array]
array = jax.numpy.ones(3)
reveal_type(nnx.split(nnx.Param(array))[1])  # R typed_nnx: Param[Array]  # R flax: State[Any, Any]
for path, leaf in nnx.to_flat_state(nnx.state(model, nnx.Param)):
    reveal_type(leaf)  # R typed_nnx: Param[Array]  # R flax: Param[Any] | Param[Array]
for path, taken in nnx.to_flat_state(nnx.state(Declared(), nnx.Cache)):
    reveal_type(taken)  # R: Cache[Array]
reveal_type(nnx.state(Declared(), nnx.Cache).some)  # R: Cache[Array]
reveal_type(nnx.state(Declared()).some)  # R: Variable[Array]
for key in nnx.state(model):
    reveal_type(key)  # R: str
for index in nnx.state(nnx.List([model])):
    reveal_type(index)  # R: int
streams = nnx.state(nnx.Rngs(noise=1), nnx.RngKey)
reveal_type(streams.noise.key)  # R: RngKey


# -- unsure
def unknown(anything: Any, *filters: nnx.filterlib.Filter) -> None:
    _, one, two = nnx.split(anything, nnx.Param, ...)
    # R typed_nnx: State[Any, Any, Any, type[Param[Any]]]
    # R flax: State[Any, Any]
    reveal_type(one)
    nnx.split(model, *filters)


def states(anything: Any) -> None:
    nnx.state(anything)
