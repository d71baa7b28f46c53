from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.count = nnx.Variable(0)


rngs = nnx.Rngs(0)
model = Model(rngs)
graphdef, state = nnx.split(model)
v = nnx.Param(jnp.zeros(2))
ones = jnp.ones(2)
zeros = nnx.initializers.zeros_init()
used: Any

# -- reports
v.value  # E: `Variable.value` is deprecated (TN120). Fix: v[...]  [nnx-deprecated]
array: jax.Array = v.value  # E: (TN120)  [nnx-deprecated]
v.value = ones  # E: (TN120)  [nnx-deprecated]
v.value += 1.0  # E: (TN120)  [nnx-deprecated]
model.linear.kernel.value  # E: (TN120)  [nnx-deprecated]
model.count.value  # E: v.get_value() otherwise  [nnx-deprecated]
v.raw_value  # E: `Variable.raw_value` is deprecated (TN121). Fix: v.get_raw_value()  [nnx-deprecated]
v.sharding_names  # E: `Variable.sharding_names` is deprecated (TN131)  [nnx-deprecated]

nnx.Variable(ones, use_ref=True)  # E: `Variable(use_ref=...)` is deprecated (TN127)  [nnx-deprecated]
nnx.Param(ones, mutable=True)  # E: `Param(mutable=...)` is deprecated (TN127)  [nnx-deprecated]
nnx.Param(ones, on_get_value=lambda v, x: x)  # E: (TN137)  [nnx-deprecated]
nnx.with_metadata(zeros, sharding=("a",))  # E: (TN131)  [nnx-deprecated]
nnx.with_metadata(zeros, sharding_names=("a",))  # E: (TN131). Fix: out_sharding=  [nnx-deprecated]


def sharded() -> None:
    nnx.Param(ones, sharding=("a",))  # E: `Param(sharding=...)`  [nnx-deprecated]
    nnx.Variable(ones, sharding_names=("a",))  # E: (TN131)  [nnx-deprecated]


rngs.fork(split=2)  # E: `Rngs.fork(split=...)` is deprecated (TN123). Fix: rngs.split(n)  [nnx-deprecated]
nnx.fork_rngs(nnx.Rngs(0), split=2)  # E: (TN123)  [nnx-deprecated]
nnx.LSTMCell(1, 1, rngs=rngs, keep_rngs=True)  # E: `LSTMCell(keep_rngs=...)`  [nnx-deprecated]

state.flat_state()  # E: `State.flat_state` is deprecated (TN130). Fix: nnx.to_flat_state(state)  [nnx-deprecated]
used = state.map(lambda path, x: x)  # E: (TN130)  [nnx-deprecated]
used = state.filter(nnx.Param)  # E: (TN130)  [nnx-deprecated]
state.split(nnx.Param, ...)  # E: (TN130)  [nnx-deprecated]
state.to_pure_dict()  # E: (TN130)  [nnx-deprecated]
state.replace_by_pure_dict({})  # E: (TN130)  [nnx-deprecated]
used = nnx.State.merge(state, state)  # E: (TN130)  [nnx-deprecated]
nnx.State.from_flat_path({})  # E: (TN130)  [nnx-deprecated]

model.iter_modules()  # E: `Module.iter_modules` is deprecated (TN134). Fix: nnx.iter_modules(m)  [nnx-deprecated]
model.iter_children()  # E: (TN134)  [nnx-deprecated]
model.linear.iter_modules()  # E: (TN134)  [nnx-deprecated]

nnx.pure(state)  # E: `pure` is deprecated (TN132). Fix: nnx.as_pure(tree)  [nnx-deprecated]
nnx.vars_as(state, ref=False)  # E: (TN132). Fix: nnx.with_vars(node, ...)  [nnx-deprecated]


def shapes() -> None:
    nnx.abstract_with_sharding(state)  # E: (TN132). Fix: nnx.as_abstract(tree)  [nnx-deprecated]


class Annotated(nnx.Pytree):
    layers: nnx.Data[list[nnx.Linear]]  # E: `Data` is deprecated (TN128). Fix: x: T = nnx.data()  [nnx-deprecated]
    size: nnx.Static[int]  # E: `Static` is deprecated (TN128)  [nnx-deprecated]

    def __init__(self) -> None:
        self.layers = []
        self.size = 3


# What is gone is an error of mypy, and said once.
nnx.is_data_type(int)  # E: has no attribute "is_data_type"  [attr-defined]
model.get_state()  # E: "Model" has no attribute "get_state"  [attr-defined]
rngs.fork(2)  # E: Too many positional arguments for "fork"  [call-arg]

# -- correct
v[...]
v[...] = ones
v.get_value()
v.set_value(ones)
v.get_raw_value()
v.get_metadata("out_sharding", None)
nnx.with_metadata(zeros, out_sharding=("a",))
nnx.with_partitioning(zeros, sharding=("a",))
nnx.Param(ones, tag="x")
rngs.fork()
rngs.split(2)
rngs.fork(split=None)
nnx.split_rngs(nnx.Rngs(0), splits=2)
nnx.LSTMCell(1, 1, rngs=rngs)
nnx.LSTMCell(1, 1, rngs=rngs, keep_rngs=False)
nnx.to_flat_state(state)
used = nnx.map_state(lambda path, x: x, state)
used = nnx.filter_state(state, nnx.Param)
used = nnx.merge_state(state, state)
nnx.to_pure_dict(state)
nnx.iter_modules(model)
nnx.iter_children(model)
nnx.as_pure(state)
nnx.with_vars(state, ref=False)


@nnx.dataclass
class Fields(nnx.Pytree):
    layers: list[nnx.Linear] = nnx.data()
    size: int = nnx.static(default=3)


class Value:
    value = 3
    raw_value = 4

    def fork(self, split: int) -> None: ...

    def iter_modules(self) -> None: ...


Value().value
Value().raw_value
Value().fork(split=2)
Value().iter_modules()
{}.values()


class Own(nnx.Variable[jax.Array]):
    @property
    def value(self) -> jax.Array:
        return self.get_value()

    @value.setter
    def value(self, new: jax.Array) -> None:
        self.set_value(new)


class OwnMethods(nnx.Module):
    def iter_modules(self) -> list[nnx.Module]:  # type: ignore[override]  # the case
        return []


Own(ones).value
OwnMethods().iter_modules()


# -- unsure
def unknown(given: Any, *options: Any, **named: Any) -> None:
    given.value
    given.fork(split=2)
    given.flat_state()
    nnx.Variable(*options, **named)


class Labelled(nnx.Variable[int]):
    def __init__(self, value: int, mutable: bool) -> None:
        super().__init__(value)


Labelled(3, mutable=True)
