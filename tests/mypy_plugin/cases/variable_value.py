from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.scale = nnx.Param(jnp.ones(3))


class Words(nnx.Variable[jax.Array]):
    def on_set_value(self, value: Any) -> jax.Array:
        return jnp.asarray([len(value)])


model = Model(nnx.Rngs(0))

# -- reports
model.scale[...] = "zeros"  # E: Param: got str; expected an array or numbers. Fix: jnp.asarray(...), or a new Variable  [nnx-variable-value]
model.scale[0] = b"0"  # E: got bytes  [nnx-variable-value]
model.scale[...] = {"a": 1.0}  # E: got dict  [nnx-variable-value]
model.linear.kernel[...] = None  # E typed_nnx: got None  [nnx-variable-value]
model.linear.kernel[:, 0] = jnp.zeros  # E typed_nnx: got a function  [nnx-variable-value]
jnp.exp(model.scale)  # E: `model.scale` is Param; expected an array. Fix: model.scale[...]  [nnx-variable-array]

# -- correct
model.scale[...] = jnp.zeros(3)
model.scale[...] = np.zeros(3)
model.scale[...] = 0.0
model.scale[0] = 1
model.scale[...] = [1.0, 2.0, 3.0]
model.scale[...] = nnx.Param(jnp.zeros(3))
model.scale[...] *= 2
nnx.Variable({"a": 1})["a"] = "text"
nnx.Variable("text")[...] = "another"
Words(jnp.ones(1))[...] = "words"


def must_fail() -> None:
    try:
        model.scale[...] = "text"
    except TypeError:
        print("as expected")


# -- unsure
def given(anything: Any, thing: object, mixed: float | str, variable: nnx.Variable) -> None:
    model.scale[...] = anything
    model.scale[...] = thing
    model.scale[...] = mixed
    variable[...] = "text"
