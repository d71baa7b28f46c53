from __future__ import annotations

import contextlib
import functools
from typing import Any

from typing_extensions import Self

import jax
import jax.numpy as jnp
import optax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.count = nnx.Variable(jnp.zeros(()))
        self.total = jnp.zeros(())
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs)])
        self.named = nnx.Dict({"a": nnx.Linear(2, 2, rngs=rngs)})
        self.names = nnx.data(["a"])
        self.bn = nnx.BatchNorm(2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x)

    @property
    def fresh(self) -> Model:
        return Model(nnx.Rngs(0))

    @property
    def scale(self) -> float:
        return 1.0

    @scale.setter
    def scale(self, value: float) -> None:
        print(value)


rngs = nnx.Rngs(0)
model = Model(rngs)
v = nnx.Variable(jnp.zeros(2))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
metrics = nnx.metrics.Average()
ones = jnp.ones(2)


# -- reports
@jax.jit
def in_jit(x: jax.Array) -> jax.Array:
    model.count[...] += 1  # E: `in_jit` changes `model.count` (Variable) of an outer scope  [nnx-jax-mutation]
    v[...] = x  # E: changes `v` (Variable)  [nnx-jax-mutation]
    v[0] = 1.0  # E: changes `v` (Variable)  [nnx-jax-mutation]
    v.value = x  # E: changes `v` (Variable)  [nnx-jax-mutation]  # E: (TN120)  [nnx-deprecated]
    v.set_value(x)  # E: changes `v` (Variable)  [nnx-jax-mutation]
    model.total = x.sum()  # E: changes `model.total` (Model)  [nnx-jax-mutation]
    model.linear = nnx.Linear(2, 2, rngs=nnx.Rngs(0))  # E: changes `model.linear`  [nnx-jax-mutation]
    model.layers.append(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))  # E: `model.layers` (List)  [nnx-jax-mutation]
    model.layers[0] = nnx.Linear(2, 2, rngs=nnx.Rngs(0))  # E: `model.layers` (List)  [nnx-jax-mutation]
    model.layers[0].kernel[...] = ones  # E: changes `model.layers[0].kernel` (Param)  [nnx-jax-mutation]
    model.named["a"] = nnx.Linear(2, 2, rngs=nnx.Rngs(0))  # E: changes `model.named` (Dict)  [nnx-jax-mutation]
    setattr(model, "total", x)  # E: changes `model` (Model)  [nnx-jax-mutation]
    return x


@functools.partial(jax.jit, static_argnums=0)
def in_partial(n: int, x: jax.Array) -> jax.Array:
    v[...] = x  # E: jax.jit: `in_partial` changes `v`  [nnx-jax-mutation]
    return x * n


@jax.jit
def with_optimizer(x: jax.Array) -> jax.Array:
    nnx.update(model, nnx.state(model, nnx.Param))  # E: changes `model` (Model)  [nnx-jax-mutation]
    optimizer.update(model, nnx.state(model, nnx.Param))  # E: `optimizer`  [nnx-jax-mutation]
    metrics.update(values=x)  # E: changes `metrics` (Average)  [nnx-jax-mutation]
    metrics.reset()  # E: changes `metrics` (Average)  [nnx-jax-mutation]
    return x


@jax.jit
def with_keys(x: jax.Array) -> jax.Array:
    key = rngs()  # E: changes `rngs` (Rngs)  [nnx-jax-mutation]
    other = rngs.params()  # E: changes `rngs  [nnx-jax-mutation]
    noise = rngs.normal((2,))  # E: changes `rngs` (Rngs)  [nnx-jax-mutation]
    more = rngs.params.normal((2,))  # E: changes `rngs  [nnx-jax-mutation]
    fork = rngs.fork()  # E: changes `rngs` (Rngs)  [nnx-jax-mutation]
    return x + noise + more


def loss(x: jax.Array) -> jax.Array:
    model.total = x.sum()  # E: `loss` changes `model.total`  [nnx-jax-mutation]
    return x.sum()


# The transforms of a call.
jax.grad(loss)
jax.vmap(lambda x: rngs())  # E: jax.vmap: a lambda changes `rngs`  [nnx-jax-mutation]
jax.eval_shape(lambda x: rngs(), ones)  # E: jax.eval_shape: a lambda  [nnx-jax-mutation]
jax.checkpoint(lambda x: rngs())  # E: jax.checkpoint: a lambda  [nnx-jax-mutation]
jax.vjp(lambda x: rngs.normal((2,)) + x, ones)  # E: jax.vjp: a lambda  [nnx-jax-mutation]
jax.hessian(lambda x: rngs.normal(()) * x)  # E: jax.hessian: a lambda  [nnx-jax-mutation]


def branch(x: jax.Array) -> jax.Array:
    v[...] = x  # E: jax.lax.cond: `branch` changes `v` (Variable)  [nnx-jax-mutation]
    return x


jax.lax.cond(True, branch, branch, ones)


class Trainer:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)

    def train(self, params: jax.Array) -> None:
        def loss_fn(p: jax.Array) -> jax.Array:
            self.model.count[...] += 1  # E: changes `self.model.count` (Variable)  [nnx-jax-mutation]
            return p.sum()

        jax.grad(loss_fn)(params)

    def step(self, x: jax.Array) -> jax.Array:
        self.model.count[...] += 1  # E: `step` changes `self.model.count`  [nnx-jax-mutation]
        return x

    def compile(self) -> Any:
        return jax.jit(self.step)


class Recurrent(nnx.Module):
    def __init__(self) -> None:
        self.count = nnx.Variable(jnp.zeros(()))
        self.last = jnp.zeros(())

    def __call__(self, xs: jax.Array) -> jax.Array:
        def body(carry: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            self.count[...] += 1  # E: jax.lax.scan: `body` changes `self.count`  [nnx-jax-mutation]
            self.last = x  # E: changes `self.last` (Recurrent)  [nnx-jax-mutation]
            return carry + x, x

        return jax.lax.scan(body, jnp.zeros(()), xs)[0]

    def loops(self, x: jax.Array) -> jax.Array:
        def true(x: jax.Array) -> jax.Array:
            self.count[...] = x  # E: jax.lax.cond: `true` changes `self.count`  [nnx-jax-mutation]
            return x

        def false(x: jax.Array) -> jax.Array:
            self.count[...] = x  # E: jax.lax.switch: `false` changes  [nnx-jax-mutation]
            return x

        def times(i: jax.Array, x: jax.Array) -> jax.Array:
            self.count[...] = x  # E: jax.lax.fori_loop: `times` changes  [nnx-jax-mutation]
            return x

        def until(x: jax.Array) -> jax.Array:
            self.count[...] = x  # E: jax.lax.while_loop: `until` changes  [nnx-jax-mutation]
            return x + 1

        x = jax.lax.cond(x > 0, true, lambda x: x, x)
        x = jax.lax.switch(0, [lambda x: x, false], x)
        x = jax.lax.while_loop(lambda x: x < 3, until, x)
        return jax.lax.fori_loop(0, 3, times, x)

    def of_self(self, x: jax.Array) -> Self:
        def body(x: jax.Array) -> jax.Array:
            self.count[...] = x  # E: `body` changes `self.count`  [nnx-jax-mutation]
            return x

        jax.lax.map(body, x)
        return self

    def untyped(self, x):  # type: ignore[no-untyped-def]  # the case
        def body(x):  # type: ignore[no-untyped-def]  # the case
            self.count[...] = x  # E: `body` changes `self.count`  [nnx-jax-mutation]
            return x

        return jax.lax.map(body, x)


@jax.jit
def nested(state: nnx.State, x: jax.Array) -> jax.Array:
    inner: Model = nnx.merge(nnx.graphdef(model), state)

    def local_loss(x: jax.Array) -> jax.Array:
        inner.count[...] += 1  # E: jax.grad: `local_loss` changes `inner.count`  [nnx-jax-mutation]
        return x.sum()

    return jax.grad(local_loss)(x)


# -- correct
@nnx.jit
def with_nnx(model: Model, x: jax.Array) -> jax.Array:
    model.count[...] += 1
    return model(x)


with_nnx(model, jnp.ones((1, 2)))
graphdef, state = nnx.split(model)


@jax.jit
def merged(state: nnx.State, x: jax.Array) -> tuple[jax.Array, nnx.State]:
    model = nnx.merge(graphdef, state)
    model.count[...] += 1
    model.total = x.sum()
    local = nnx.Rngs(0)
    local.params()
    model.layers.append(nnx.Linear(2, 2, rngs=local))
    nnx.update(model, state)
    return model(x), nnx.state(model)


merged(state, jnp.ones((1, 2)))


@jax.jit
def reads(x: jax.Array) -> jax.Array:
    value = model.count[...] + v[...]
    names = model.names
    names.append("b")
    model.names[0] = "c"
    copy = v.copy()
    copy[...] = x
    for layer in nnx.List([nnx.Linear(2, 2, rngs=nnx.Rngs(0))]):
        layer.kernel[...] = x
    key = rngs.params.key[...]
    return model(x) + value + v[...].at[0].set(1.0)


reads(ones)


@jax.jit
def with_property(x: jax.Array) -> jax.Array:
    model.fresh.count[...] = 1.0
    return x


with_property(ones)


def not_transformed(x: jax.Array) -> jax.Array:
    v[...] = x
    model.count[...] += 1
    return x


not_transformed(ones)
jax.tree.map(lambda x: rngs(), [ones])
jax.lax.switch(0, [not_transformed], ones)


@jax.jit
def with_local(x: jax.Array) -> jax.Array:
    def helper(x: jax.Array) -> jax.Array:
        local[...] = x
        return x

    local = nnx.Variable(x)
    return helper(x) + local[...]


with_local(ones)


def with_known_types() -> None:
    def own(x: jax.Array, given: nnx.Variable[jax.Array]) -> jax.Array:
        local = nnx.Variable(x)
        local[...] = x
        given[...] = x  # E: `own` changes `given` (Variable) of a copy  [nnx-lost-update]
        return local[...]

    def made(x: jax.Array) -> jax.Array:
        model = Model(nnx.Rngs(0))
        model.count[...] = 1.0
        v, _ = nnx.Variable(x), 1
        v.set_value(x)
        return x

    jax.jit(own)
    jax.jit(made)(ones)


with_known_types()


class Replaced:
    def __init__(self) -> None:
        self.model = model

    def run(self, x: jax.Array) -> jax.Array:
        def body(x: jax.Array) -> jax.Array:
            self.model = Model(nnx.Rngs(0))
            self.model.count[...] = x.sum()
            return x

        return jax.jit(body)(x)


Replaced().run(ones)


@jax.jit
def guarded(x: jax.Array) -> jax.Array:
    if not isinstance(x, jax.core.Tracer):
        v[...] = x
    try:
        v[...] = x
    except Exception:
        pass
    with contextlib.suppress(Exception):
        v[...] = x
    return x


guarded(ones)


# -- unsure
class Counting(nnx.Module):
    def __init__(self) -> None:
        self.count = nnx.Variable(jnp.zeros(()))

    def __setattr__(self, name: str, value: object) -> None:
        if name != "skipped":
            super().__setattr__(name, value)

    def update(self, **kwargs: object) -> None: ...


counting = Counting()


@jax.jit
def own_methods(x: jax.Array) -> jax.Array:
    counting.skipped = x
    counting.update(x=x)
    model.scale = 3.0
    model.bn(x)  # may change its statistics
    return x


@jax.jit
def unknown(x: jax.Array, given: Any) -> jax.Array:
    given.count[...] = x
    for layer in model.layers:
        layer.kernel[...] = x
    return x


def of_a_parameter(model: Model, x: jax.Array) -> jax.Array:
    model.total = x  # E: `of_a_parameter` changes `model.total` (Model) of a copy  [nnx-lost-update]
    return x


# What it changes is lost, but nothing raises.
jax.jit(of_a_parameter)
jax.jit(functools.partial(of_a_parameter, model))


def any_function(function: Any) -> None:
    jax.jit(function)
    jax.lax.switch(0, function, ones)
