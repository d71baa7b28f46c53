# runtime: typed_nnx
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm: nnx.LayerNorm = nnx.LayerNorm(3, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x)


model = Model(nnx.Rngs(0))
state = nnx.state(model)
x = jnp.ones((1, 2))


def loss(model: Model, x: jax.Array) -> jax.Array:
    return model(x).sum()


jitted = nnx.jit(loss)
gradient = nnx.grad(loss)

# -- reports
# E: split: argument 3 is int; expected a filter. Fix: give it a class such as nnx.Param, `...` for what is left, or a function (path, value)  [nnx-call]
nnx.split(model, nnx.Param, 3)
nnx.state(model, 3)  # E: state: argument 2 is int; expected a filter  [nnx-call]
nnx.pop(model, 3)  # E: pop: argument 2 is int; expected a filter  [nnx-call]
nnx.split()  # E: split: `node` is missing. Fix: give it  [nnx-call]
nnx.state(model, only=nnx.Param)  # E: state: there is no argument `only`. Fix: leave it out, or give one of `node`, `graph`  [nnx-call]
nnx.split_state(state, 3)  # E: split_state: argument 2 is int; expected a filter  [nnx-call]
nnx.filter_state(model, nnx.Param)  # E: filter_state: argument 1 is Model; expected State  [nnx-call]
state.split(3)  # E: State.split: argument 1 is int; expected a filter  [nnx-call]  # E: is deprecated  [nnx-deprecated]
nnx.to_flat_state(state).filter(3)  # E: FlatState.filter: argument 1 is int; expected a filter  [nnx-call]

nnx.grad(loss, argnum=1)  # E: grad: there is no argument `argnum`. Fix: write argnums= for argnum=  [nnx-call]
nnx.grad(loss, 0)  # E: grad: got 2 by position; expected at most 1. Fix: give options by name, of `argnums`, `has_aux`  [nnx-call]
nnx.grad(3)  # E: grad: argument 1 is int; expected a function. Fix: give it the function, not what it returns  [nnx-call]
nnx.grad(loss, has_aux="yes")  # E: grad: `has_aux` is str; expected bool  [nnx-call]
nnx.value_and_grad(loss, argnums=nnx.Param)  # E: `argnums` is type[Param]; expected int or tuple or list or DiffState  [nnx-call]
nnx.grad(loss)(model)  # E: grad of `loss`: `x` is missing  [nnx-call]
gradient(model, 3)  # E: grad of `loss`: argument 2 is int; expected jax.Array  [nnx-call]
gradient(x, model)  # E: grad of `loss`: argument 1 is jax.Array; expected Model  [nnx-call]
gradient(model, x, x)  # E: grad of `loss`: got 3 by position; expected at most 2. Fix: leave the others out  [nnx-call]
nnx.DiffState(0)  # E: DiffState: `filter` is missing  [nnx-call]
nnx.DiffState("0", nnx.Param)  # E: DiffState: argument 1 is str; expected int  [nnx-call]
nnx.DiffState(0, nnx.Param, nnx.BatchStat)  # E: DiffState: got 3 by position; expected at most 2  [nnx-call]


@nnx.grad(argnum=1)  # E: grad: there is no argument `argnum`. Fix: write argnums= for argnum=  [nnx-call]
def decorated(model: Model, x: jax.Array) -> jax.Array:
    return model(x).sum()


# The call of what is decorated is not reported: mypy knows nothing of it.
decorated(1, 2, 3)


@nnx.grad  # E: takes none by position  [nnx-argnums]
def only_named(*, model: Model) -> jax.Array:
    return model(x).sum()


nnx.vjp(loss, model)  # E: vjp: argument 1 is called with 1, but it takes 2 by position (model, x). Fix: give as many  [nnx-call]
nnx.vjp(loss, x, x)  # E: vjp: argument 1 does not fit the others: it takes 2 by position (model, x). Fix: give all that it takes  [nnx-call]
nnx.jvp(loss, (model, x))  # E: jvp: `tangents` is missing  [nnx-call]
nnx.eval_shape(Model)  # E: eval_shape: argument 1 is called with none, but it takes 1 by position (rngs)  [nnx-call]
nnx.eval_shape(lambda: model, x)  # E: argument 1 is called with 1, but it takes none by position  [nnx-call]
jitted.lower(model)  # E: `x` is missing  [nnx-call]
jitted.trace(model, 3)  # E: argument 2 is int; expected jax.Array or tuple or list  [nnx-call]
nnx.cached_partial(loss, model)  # E: argument 1 is function; expected a function of nnx.jit  [nnx-call]
nnx.jit(loss, static_argnum=1)  # E: jit: there is no argument `static_argnum`. Fix: write static_argnums= for static_argnum=  [nnx-call]
nnx.shard_map(loss, mesh=3)  # E: shard_map: `mesh` is int; expected Mesh or AbstractMesh  [nnx-call]
nnx.fori_loop(0, "3", lambda i, carry: carry, x)  # E: fori_loop: argument 2 is str; expected an array or a number or Variable  [nnx-call]
nnx.RNN(3)  # E: RNN: argument 1 is int; expected RNNCellBase  [nnx-call]
nnx.Optimizer(model, wrt=nnx.Param)  # E: Optimizer: `tx` is missing  [nnx-call]
nnx.update(model)  # E: update: argument 2 is missing  [nnx-call]
nnx.update(model, 3)  # E: update: argument 2 is int; expected State or GraphState or FlatState  [nnx-call]

# What has a check of its own is reported by that alone.
nnx.grad(loss, argnums=3)  # E: names argument 3  [nnx-argnums]
nnx.split(model, ..., nnx.Param, 3)  # E: must be the last filter  [nnx-filter-order]

# A layer may take the place of another, but not that of a Variable, nor against an annotation.
Model(nnx.Rngs(0)).linear.kernel = x  # E: "Array"  [assignment]
Model(nnx.Rngs(0)).norm = nnx.RMSNorm(3, rngs=nnx.Rngs(0))  # E: "RMSNorm"  [assignment]

# Variables for which their arrays would do.
kernel = model.linear.kernel
jnp.exp(kernel)  # E: `kernel` is Param; expected an array. Fix: kernel[...]  [nnx-variable-array]
jnp.dot(x, model.linear.kernel)  # E: Fix: model.linear.kernel[...]  [nnx-variable-array]
jnp.stack([x, kernel])  # E: Fix: kernel[...]  [nnx-variable-array]
jnp.where(x > 0, kernel, 0)  # E: Fix: kernel[...]  [nnx-variable-array]
jnp.maximum(kernel, 0.0)  # E: Fix: kernel[...]  [nnx-variable-array]
jax.nn.relu(nnx.Param(x))  # E: an argument is Param; expected an array. Fix: variable[...]  [nnx-variable-array]
nnx.relu(kernel)  # E: Fix: kernel[...]  [nnx-variable-array]
jitted(model, kernel)  # E: `kernel` is Param; expected an array. Fix: kernel[...]  [arg-type]
nnx.eval_shape(lambda: Model(0))  # E: Argument 1 to "Model" has incompatible type "int"  [arg-type]

with pytest.raises(TypeError):
    nnx.state(model, 3)  # E: state: argument 2 is int; expected a filter  [call-overload]

# -- correct
jnp.zeros_like(kernel)
jnp.ones_like(model.linear.kernel)
nnx.split(model, nnx.Param, ...)
nnx.state(model, 3)  # type: ignore[call-overload]
nnx.grad(loss, argnums=1)(model, x)
nnx.vjp(loss, model, x)
nnx.eval_shape(lambda: Model(nnx.Rngs(0)))
jitted.lower(model, x)
jnp.exp(kernel[...])
jnp.array(kernel)
x @ kernel + kernel
anything: Any = nnx.vmap(lambda x: x + 1)
things: dict[str, Any] = {"f": nnx.remat(lambda x: x + 1)}
Model(nnx.Rngs(0)).linear = nnx.LoRA(2, 1, 3, base_module=model.linear, rngs=nnx.Rngs(0))


# -- unsure
def unsure(options: dict[str, Any], filters: list[nnx.filterlib.Filter], f: Callable[..., Any]) -> None:
    nnx.grad(loss, **options)
    nnx.split(model, *filters)
    nnx.vjp(f, model)
    nnx.grad(f)(model)
    value = nnx.state(model)
    value = nnx.merge(nnx.graphdef(model), value)  # E: incompatible type "Model"  [arg-type]
    jnp.exp(model.linear.bias)  # E: "Param[Array] | None"  [arg-type]
