from __future__ import annotations

from typing import Any, Generic, TypeVar

import jax

import typed_nnx as nnx

T = TypeVar("T", bound=nnx.Module)
U = TypeVar("U")


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs, flag: bool = True) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(2, 3, rngs=rngs)])
        self.named = nnx.Dict(a=nnx.Linear(2, 3, rngs=rngs))
        self.plain = nnx.data([nnx.Linear(2, 3, rngs=rngs)])
        self.pair = nnx.data((nnx.Param(jax.numpy.ones(3)), jax.numpy.ones(3)))
        self.maybe = nnx.Linear(2, 3, rngs=rngs) if flag else None
        self.either: nnx.Linear | nnx.LayerNorm = nnx.Linear(2, 3, rngs=rngs)
        self.scale = jax.numpy.ones(3)
        self.size = 3


class Child(Model):
    def __init__(self, rngs: nnx.Rngs) -> None:
        super().__init__(rngs)
        self.weight = nnx.Param(jax.numpy.ones(3))


class Box(nnx.Module, Generic[T]):
    def __init__(self, inner: T) -> None:
        self.inner = inner


class Other(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.weight = nnx.Param(jax.numpy.ones(3))


def same(value: U) -> U:
    return value


model = Model(nnx.Rngs(0))
child = Child(nnx.Rngs(0))
other = Other(nnx.Rngs(0))

# -- reports
nnx.state(model).linear.kernl  # E: did you mean 'kernel'?  [nnx-state-key]

# -- correct
state = nnx.state(model)
reveal_type(state)  # R typed_nnx: State[Any, Any, Model, Any]  # R flax: State[Any, Any]
reveal_type(state.linear)  # R typed_nnx: State[Any, Any, Linear, Any]  # R flax: State[Any, Any]
reveal_type(state["linear"])  # R typed_nnx: State[Any, Any, Linear, Any]  # R flax: State[Any, Any]
reveal_type(state.linear.bias)  # R: Param[Array]
reveal_type(state["linear"]["bias"])  # R: Param[Array]
reveal_type(state.norm.mean)  # R: BatchStat[Array]
reveal_type(state.layers[0].bias)  # R: Param[Array]
reveal_type(state["named"]["a"]["bias"])  # R: Param[Array]
reveal_type(state.named.a.bias)  # R: Param[Array]
reveal_type(state.plain[0].bias)  # R: Param[Array]
reveal_type(state.pair[0])  # R: Param[Array]
reveal_type(state.pair[1])  # R: Array
reveal_type(state.maybe.bias)  # R: Param[Array]
reveal_type(state.either.bias)  # R typed_nnx: Param[Array]  # R flax: Param[Array]
reveal_type(state.scale)  # R: Array
reveal_type(nnx.state(child).linear.bias)  # R: Param[Array]
reveal_type(nnx.state(child).weight)  # R: Param[Array]
box, boxes = Box(child), Box(Box(other))
reveal_type(nnx.state(box).inner.weight)  # R: Param[Array]
reveal_type(nnx.state(boxes).inner.inner.weight)  # R: Param[Array]
models, named_models = [model, child], {"a": other}
reveal_type(nnx.state(models)[0].scale)  # R: Array
reveal_type(nnx.state((model, other))[1].weight)  # R: Param[Array]
reveal_type(nnx.state(named_models)["a"].weight)  # R: Param[Array]

_, params, rest = nnx.split(model, nnx.Param, ...)
reveal_type(params.linear.bias)  # R: Param[Array]
reveal_type(rest.norm.mean)  # R: BatchStat[Array]
reveal_type(rest.scale)  # R: Array
params.linear.bias[...] += 1.0
params["linear"]["bias"] = nnx.Param(jax.numpy.ones(3))
params.linear.bias = nnx.Param(jax.numpy.ones(3))
params["new"] = 3


# The model of a State goes with its type.
def containers() -> None:
    held = {"a": params}
    # R typed_nnx: State[Any, Any, Model, type[Param[Any]]]
    # R flax: State[Any, Any]
    reveal_type(held["a"])
    pair = (params, rest)
    # R typed_nnx: State[Any, Any, Linear, type[Param[Any]]]
    # R flax: State[Any, Any]
    reveal_type(pair[0].linear)
    jitted = nnx.jit(lambda each: each)
    jitted(params)
    first, second = nnx.state(model), nnx.state(other)
    alias, passed = first, same(second)
    reveal_type(alias.linear.bias)  # R: Param[Array]
    reveal_type(passed.weight)  # R: Param[Array]


# What a function makes of the values goes into Variables of the same kinds.
def mapped() -> None:
    doubled = jax.tree.map(lambda leaf: leaf * 2, params)
    # R typed_nnx: State[Any, Any, Model, type[Param[Any]]]
    # R flax: State[Any, Any]
    reveal_type(doubled)
    reveal_type(doubled.linear.bias)  # R: Param[Array]
    again = nnx.state(model)
    again = jax.tree.map(lambda leaf: leaf * 2, again)
    reveal_type(again)  # R typed_nnx: State[Any, Any, Model, Any]  # R flax: State[Any, Any]
    # R typed_nnx: State[Any, Any, Linear, Any]
    # R flax: State[Any, Any]
    reveal_type(again.linear)
    reveal_type(again.linear.bias)  # R: Param[Array]
    looped = nnx.state(model)
    for _ in range(2):
        reveal_type(looped.linear.bias)  # R: Param[Any]
        looped = jax.tree.map(lambda leaf: leaf * 2, looped)
    shapes = jax.tree.map(lambda leaf: str(leaf), params, is_leaf=lambda leaf: True)
    reveal_type(shapes)  # R: Any
    lengths = nnx.map_state(lambda path, leaf: len(path), params)
    reveal_type(lengths.linear.bias)  # R typed_nnx: int  # R flax: State[Any, Any] | Any


# -- unsure
# Where two States of different models meet, nothing is known.
def joined(flag: bool) -> None:
    either = nnx.state(model) if flag else nnx.state(other)
    reveal_type(either.weight)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
    listed = [nnx.state(model), nnx.state(other)]
    reveal_type(listed[1].weight)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
    kept: nnx.State = nnx.state(model)
    if flag:
        kept = nnx.state(other)
    reveal_type(kept.weight)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
    mapped = nnx.state(model)
    for _ in range(2):
        reveal_type(mapped.x)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
        mapped = jax.tree.map(lambda leaf: leaf, kept)
    for each in (nnx.state(model), nnx.state(other)):
        reveal_type(each.weight)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
    filtered = nnx.state(model, nnx.Param)
    while flag:
        # R typed_nnx: State[Any, Any, BatchNorm, type[Param[Any]]]
        # R flax: State[Any, Any] | Any
        reveal_type(filtered.norm)
        filtered = nnx.state(model, nnx.Param, nnx.BatchStat)[1]  # E typed_nnx: Incompatible types
    # R typed_nnx: State[Any, Any, BatchNorm, type[Param[Any]]]
    # R flax: State[Any, Any] | Any
    reveal_type(filtered.norm)
    # Neither does a name of such a State say more, or the result of a function of it.
    alias, passed, pair = filtered, same(filtered), (filtered, filtered)
    # R typed_nnx: State[Any, Any, BatchNorm, type[Param[Any]]]
    # R flax: State[Any, Any] | Any
    reveal_type(alias.norm)
    # R typed_nnx: State[Any, Any, BatchNorm, type[Param[Any]]]
    # R flax: State[Any, Any] | Any
    reveal_type(passed.norm)
    _, unpacked = pair
    # R typed_nnx: State[Any, Any, BatchNorm, type[Param[Any]]]
    # R flax: State[Any, Any] | Any
    reveal_type(unpacked.norm)


def unknown(given: nnx.State, anything: Any, module: nnx.Module, key: str) -> None:
    reveal_type(given.x)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
    reveal_type(nnx.state(module).x)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
    reveal_type(state[key])  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
    reveal_type(nnx.state(anything).x)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any


def generic(node: T) -> None:
    reveal_type(nnx.state(node).x)  # R typed_nnx: Any  # R flax: State[Any, Any] | Any
