from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Final

import jax

import typed_nnx as nnx


@dataclasses.dataclass(frozen=True)
class Config:
    depth: int = 2
    name: str = ""


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)

    def loss(self, x: jax.Array) -> jax.Array:
        return self.linear(x).sum()


model = Model(nnx.Rngs(0))
x = jax.numpy.ones((4, 2))


def loss(model: Model, x: jax.Array) -> jax.Array:
    return model.linear(x).sum()


def steps(count: int, x: jax.Array) -> jax.Array:
    return x.sum() * count


def configured(config: Config, x: jax.Array) -> jax.Array:
    return x.sum() * config.depth


def named(x: jax.Array, *, scale: float = 1.0) -> jax.Array:
    return x.sum() * scale


def variadic(x: jax.Array, *rest: jax.Array) -> jax.Array:
    return x.sum()


@nnx.jit
def jitted(x: jax.Array, y: jax.Array) -> jax.Array:
    return x.sum() + y.sum()


@nnx.jit
@nnx.remat
def saving(x: jax.Array) -> jax.Array:
    return x.sum()


THIRD: Final = 2
BOTH = (0, 2)
changed = (0, 1)
changed = (0, 5)

# -- reports
nnx.grad(loss, argnums=2)  # E: `argnums` names argument 2, but it takes 2 by position (model, x)  [nnx-argnums]
nnx.value_and_grad(loss, argnums=(0, 2))  # E: Fix: count from 0, so name one of 0 to 1  [nnx-argnums]
nnx.grad(loss, argnums=-3)  # E: names argument -3  [nnx-argnums]
nnx.grad(lambda model, n: model.linear(x).sum() * n, argnums=1)(model, 3)  # E typed_nnx: grad: argument 1 is int, which has no gradient. Fix: give a float, an array or a Module  [nnx-argnums]
nnx.grad(loss, argnums="x")  # E: grad: `argnums` is str; expected int or  [nnx-call]
nnx.grad(loss, argnums=THIRD)  # E: names argument 2  [nnx-argnums]
nnx.grad(loss, argnums=BOTH)  # E: names argument 2  [nnx-argnums]
nnx.grad(loss, argnums=nnx.DiffState(2, nnx.Param))  # E: names argument 2  [nnx-argnums]
nnx.grad(loss, argnums=nnx.DiffState(argnum=2, filter=nnx.Param))  # E: names argument 2  [nnx-argnums]
nnx.grad(named, argnums=1)  # E: it takes 1 by position (x)  [nnx-argnums]
nnx.grad(Model.loss, argnums=2)  # E: (self, x)  [nnx-argnums]
nnx.grad(partial(loss, model), argnums=1)  # E: (x)  [nnx-argnums]
nnx.grad(lambda a, b: a.sum(), argnums=2)  # E: (a, b)  [nnx-argnums]
nnx.grad(argnums=2)(loss)  # E: (model, x)  [nnx-argnums]
partial(nnx.grad, argnums=2)(loss)  # type: ignore[call-overload, arg-type]  # E: (model, x)  [nnx-argnums]
jax.grad(loss, argnums=2)  # E: (model, x)  [nnx-argnums]
jax.grad(loss, 2)  # E: (model, x)  [nnx-argnums]
jax.value_and_grad(model.loss, argnums=1)  # E: (x)  [nnx-argnums]
jax.jacfwd(loss, argnums=2)  # E: (model, x)  [nnx-argnums]
jax.jacrev(loss, argnums=2)  # E: (model, x)  [nnx-argnums]
jax.hessian(loss, argnums=2)  # E: (model, x)  [nnx-argnums]
jax.grad(jitted, argnums=2)  # E: (x, y)  [nnx-argnums]
nnx.grad(saving, argnums=1)  # E: (x)  [nnx-argnums]
nnx.grad(loss, argnums=())  # E: names no argument  [nnx-argnums]
nnx.grad(loss, argnums=(0, 0))  # E: names argument 0 twice  [nnx-argnums]
# E: names argument 0 twice  [nnx-argnums]
nnx.grad(loss, argnums=(nnx.DiffState(0, nnx.Param), nnx.DiffState(0, nnx.BatchStat)))
jax.grad(named, (0, 0))  # E: twice. Fix: name it once  [nnx-argnums]
nnx.grad(steps)  # E: argument 0, `count`, is int, which has no gradient. Fix: name an argument of floats or a Module, argnums=1  [nnx-argnums]
nnx.grad(steps, argnums=(1, 0))  # E: `count`, is int  [nnx-argnums]
nnx.grad(configured)  # E: `config`, is Config  [nnx-argnums]
jax.grad(steps)  # E: `count`, is int  [nnx-argnums]
nnx.custom_vjp(loss, nondiff_argnums=(2,))  # E: `nondiff_argnums` names argument 2  [nnx-argnums]
nnx.custom_vjp(loss, nondiff_argnums=(1, 1))  # E: names argument 1 twice  [nnx-argnums]


@nnx.grad  # type: ignore[call-overload, arg-type]  # E: `mode`, is str  [nnx-argnums]
def first_is_text(mode: str, x: jax.Array) -> jax.Array:
    return x.sum()


@nnx.value_and_grad(argnums=2)  # E: (model, x)  [nnx-argnums]
def decorated(model: Model, x: jax.Array) -> jax.Array:
    return loss(model, x)


@partial(nnx.grad, argnums=2)  # type: ignore[call-overload, arg-type]  # E: (model, x)  [nnx-argnums]
def by_partial(model: Model, x: jax.Array) -> jax.Array:
    return loss(model, x)


@nnx.grad(argnums=2)  # E: (model, x)  [nnx-argnums]
@nnx.jit
def compiled(model: Model, x: jax.Array) -> jax.Array:
    return loss(model, x)


class Trainer:
    @nnx.grad(argnums=2)  # E: (self, model)  [nnx-argnums]
    def step(self, model: Model) -> jax.Array:
        return model.linear(x).sum()


def annotated_locally() -> None:
    def inner(a: Model) -> jax.Array:
        return a.linear(x).sum()

    nnx.grad(inner, argnums=1)  # E: (a)  [nnx-argnums]


# -- correct
nnx.grad(lambda model, n: model.linear(x).sum() * n, argnums=1)(model, 3.0)
nnx.grad(lambda model, n: model.linear(x).sum() * n, argnums=1, allow_int=True)(model, 3)
nnx.grad(loss)(model, x)
nnx.grad(loss, argnums=1)(model, x)
nnx.grad(loss, argnums=-1)(model, x)
nnx.grad(loss, argnums=(0, 1))(model, x)
nnx.grad(loss, argnums=[1])(model, x)
nnx.grad(loss, argnums=(nnx.DiffState(0, nnx.Param), 1))(model, x)
nnx.grad(variadic, argnums=2)(x, x, x)
nnx.grad(steps, argnums=1)(2, x)
nnx.grad(steps, allow_int=True)(2, x)
nnx.grad(lambda m, y: loss(m, y), argnums=1)(model, x)
nnx.grad(partial(loss, model), argnums=0)(x)
jax.grad(named, (0,))(x)
jax.grad(model.loss)(x)


class Method(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jax.numpy.ones(2))

    @nnx.grad(argnums=1)
    def slope(self, x: jax.Array) -> jax.Array:
        return (self.w[...] * x).sum()


Method().slope(x)


# -- unsure
def from_outside(
    f: Callable[[jax.Array], jax.Array], number: int, options: dict[str, int], any_loss
) -> None:
    nnx.grad(f, argnums=3)  # type: ignore[call-overload, arg-type]
    nnx.grad(any_loss, argnums=3)
    nnx.grad(loss, argnums=number)  # type: ignore[call-overload, arg-type]
    nnx.grad(loss, argnums=(0, number))  # type: ignore[call-overload, arg-type]
    nnx.grad(steps, allow_int=bool(number))
    nnx.grad(steps, **options)  # type: ignore[call-overload, arg-type]


def unannotated(a, b):
    return a.sum()


def maybe(a: int | jax.Array, b: int | None = None) -> jax.Array:
    return jax.numpy.sum(a)


def wrapping(f: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    return f


@wrapping
def wrapped(x: jax.Array) -> jax.Array:
    return x.sum()


nnx.grad(unannotated)
jax.grad(loss, argnums=changed)
nnx.grad(maybe)
nnx.grad(maybe, argnums=1)
nnx.grad(wrapped, argnums=4)
