from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import numpy as np

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.activation = "relu"

    def run(self, x: jax.Array, mode: str) -> jax.Array:
        return self.linear(x)

    @nnx.jit
    def optional(self, x: jax.Array, mode: str = "train") -> jax.Array:
        return self.linear(x)

    @nnx.jit(static_argnames="mode")
    def compiled(self, x: jax.Array, mode: str) -> jax.Array:
        return self.linear(x)

    @partial(jax.jit, static_argnums=0)  # E: `self` is static, but a Model holds arrays  [nnx-static-args]
    def frozen(self, x: jax.Array) -> jax.Array:
        return self.linear(x)


model = Model(nnx.Rngs(0))
x = jax.numpy.ones((4, 2))


def step(model: Model, x: jax.Array, scale: float = 1.0, *, top: int = 1) -> jax.Array:
    return model.linear(x) * scale


def moded(model: Model, x: jax.Array, mode: str) -> jax.Array:
    return model.linear(x)


def tagged(x: jax.Array, tag: str = "a", sizes: tuple[int, ...] = (), extra: object = None) -> jax.Array:
    return x


def listed(x: jax.Array, sizes: list[int]) -> jax.Array:
    return x


def variadic(x: jax.Array, *rest: jax.Array, **named: jax.Array) -> jax.Array:
    return x


fast = nnx.jit(tagged)
fast_static = nnx.jit(tagged, static_argnames=("tag", "sizes", "extra"))
faster = jax.jit(tagged, static_argnums=(1, 2, 3))


@nnx.jit
def decorated(x: jax.Array, tag: str = "a") -> jax.Array:
    return x


# -- reports
nnx.jit(step, static_argnums=3)  # E: `static_argnums` names argument 3, but it takes 3 by position (model, x, scale). Fix: a keyword-only parameter is given by name, static_argnames="top"  [nnx-static-args]
nnx.jit(moded, static_argnums=(2, 3))  # E: Fix: count from 0, so name one of 0 to 2  [nnx-static-args]
nnx.jit(step, static_argnums=-4)  # E: names argument -4  [nnx-static-args]
nnx.jit(step, static_argnames="tops")  # E: names `tops`, but there is no such parameter (model, x, scale, top)  [nnx-static-args]
nnx.jit(step, donate_argnums=3)  # E: `donate_argnums` names argument 3  [nnx-static-args]
nnx.jit(step, donate_argnames=("x", "y"))  # E: names `y`  [nnx-static-args]
nnx.jit(step, static_argnums=2, donate_argnums=(0, 2))  # E: `scale` is static and donated  [nnx-static-args]
nnx.jit(step, static_argnames="scale", donate_argnums=2)  # E: `scale` is static and donated  [nnx-static-args]
nnx.jit(step, static_argnums=1)  # E: `x` is static, but jax.Array has no hash. Fix: make it an ordinary argument  [nnx-static-args]
nnx.jit(step, static_argnums=0)  # E: `model` is static, but a Model holds arrays  [nnx-static-args]
nnx.jit(step, static_argnames="model")  # E: `model` is static  [nnx-static-args]
nnx.jit(listed, static_argnums=1)  # E: `sizes` is static, but list[int] has no hash. Fix: pass a tuple  [nnx-static-args]
nnx.jit(moded)  # E: jit of `moded`: `mode` is str, which jax cannot trace. Fix: make it static, static_argnames="mode"  [nnx-static-args]
nnx.jit(Model.run)  # E: `mode` is str  [nnx-static-args]
nnx.jit_partial(moded, model)  # E: `mode` is str  [nnx-static-args]
jax.jit(step, static_argnames="tops")  # E: names `tops`  [nnx-static-args]
jax.jit(step, static_argnums=0)  # E: Fix: use nnx.jit, and make it an ordinary argument  [nnx-static-args]
jax.jit(moded)  # E: `mode` is str  [nnx-static-args]
jax.jit(static_argnums=3)(step)  # E: names argument 3  [nnx-static-args]
partial(nnx.jit, static_argnums=3)(step)  # E: names argument 3  [nnx-static-args]
nnx.remat(step, static_argnums=3)  # E: names argument 3  [nnx-static-args]
nnx.remat(moded)  # E: Fix: make it static, static_argnums=2  [nnx-static-args]
jax.checkpoint(moded)  # E: `mode` is str  [nnx-static-args]
nnx.pmap(moded, in_axes=(0, 0, None))  # E: Fix: make it static, static_broadcasted_argnums=2  [nnx-static-args]
nnx.pmap(step, static_broadcasted_argnums=4)  # E: names argument 4  [nnx-static-args]

fast(x, "b")  # E: jit of `tagged`: `tag` is given str, which jax cannot trace. Fix: make it static, static_argnames="tag"  [nnx-static-args]
fast(x, tag="b")  # E: `tag` is given str  [nnx-static-args]
fast(x, extra=len)  # E: `extra` is given function  [nnx-static-args]
fast(x, extra=step)  # E: `extra` is given function  [nnx-static-args]
fast(x, extra={1, 2})  # E: `extra` is given set[int]  [nnx-static-args]
fast(x, extra=(x, "a"))  # E: `extra` is given tuple[jax.Array, str]  [nnx-static-args]
fast_static(x, extra=[1])  # E: `extra` is static, but list[int] has no hash. Fix: pass a tuple  [nnx-static-args]
fast_static(x, extra={"a": 1})  # E: dict[str, int] has no hash  [nnx-static-args]
fast_static(x, extra=x)  # E: jax.Array has no hash  [nnx-static-args]
fast_static(x, extra=np.ones(2))  # E: numpy.ndarray has no hash  [nnx-static-args]
fast_static(x, extra=nnx.Param(x))  # E: Param has no hash  [nnx-static-args]
faster(x, "b", (), [1])  # E: list[Any] has no hash  [nnx-static-args]
nnx.jit(tagged)(x, "b")  # E: `tag` is given str  [nnx-static-args]
decorated(x, "b")  # E: `tag` is given str  [nnx-static-args]
model.optional(x, "eval")  # E typed_nnx: `mode` is given str  [nnx-static-args]


@nnx.jit  # E: `mode` is str  [nnx-static-args]
def forgotten(x: jax.Array, mode: str) -> jax.Array:
    return x


@nnx.jit(static_argnames="mod")  # E: names `mod`  [nnx-static-args] # E: `mode` is str  [nnx-static-args]
def misspelt(x: jax.Array, mode: str) -> jax.Array:
    return x


@partial(nnx.jit, static_argnums=5)  # E: names argument 5  [nnx-static-args]
def too_far(x: jax.Array) -> jax.Array:
    return x

@nnx.jit
def sized(n: int, x: jax.Array) -> jax.Array:
    return x + jax.numpy.zeros((2, n))  # E: jit of `sized`: `n` is traced, so it cannot be a shape or the bound of a range. Fix: make it static, static_argnames="n"  [nnx-static-args]


@nnx.jit
def repeated(x: jax.Array, times: int) -> jax.Array:
    for _ in range(times):  # E: `times` is traced  [nnx-static-args]
        x = x + 1
    return x


# -- correct
nnx.jit(step, static_argnames="top", static_argnums=2)(model, x, 2.0, top=2)
nnx.jit(step, static_argnums=-1)(model, x, 2.0)
nnx.jit(step, donate_argnums=1)(model, x + 0)
nnx.jit(moded, static_argnums=2)(model, x, "a")
nnx.jit(moded, static_argnames="mode")(model, x, "a")
nnx.jit(moded, static_argnames="mode")(model, x, mode="a")
nnx.jit(partial(moded, mode="a"))(model, x)
nnx.jit(variadic, static_argnums=4, static_argnames="other")(x, x)
nnx.remat(moded, static_argnums=2)(model, x, "a")
nnx.jit(tagged, static_argnums=())(x)
fast(x)
fast_static(x, "b", (1, 2), extra=len)
faster(x, "b", (1, 2), None)
faster(x, tag="b", extra=len)
fast(x, extra=model)
fast(x, extra=[x, 1.0, None])
decorated(x)
model.optional(x)
model.compiled(x, "eval")

@nnx.jit(static_argnames="n")
def of_static_size(x: jax.Array, n: int, m: int = 2) -> jax.Array:
    return x + jax.numpy.zeros((n, m))


@nnx.jit
def of_own_size(x: jax.Array, n: int) -> jax.Array:
    count = n
    n = len(x)
    return jax.numpy.full(n, count)


# -- unsure
POSITIONS = [7]
POSITIONS[0] = 1


def from_outside(
    f: Callable[[jax.Array], jax.Array],
    number: int,
    names: tuple[str, ...],
    options: dict[str, int],
    either: str | jax.Array,
    anything,
    call: Callable[[], jax.Array],
) -> None:
    nnx.jit(f, static_argnums=3)
    nnx.jit(step, static_argnums=POSITIONS)
    nnx.jit(anything, static_argnums=3)
    nnx.jit(step, static_argnums=number)
    nnx.jit(moded, static_argnames=names)
    nnx.jit(moded, static_argnums=number)
    nnx.jit(moded, static_argnames=options.get("names"))  # type: ignore[arg-type, call-overload]
    fast(x, extra=either)
    fast(x, extra=anything)
    fast(x, extra=call)


def unannotated(a, mode):
    return a


def may_be_given(x: jax.Array, sizes: list[int] | None = None, more: list[int] = []) -> jax.Array:
    return x


nnx.jit(unannotated)
nnx.jit(may_be_given, static_argnames=("sizes", "more"))(x)


@nnx.jit
def asks(x: jax.Array, n: int) -> jax.Array:
    if isinstance(n, int):
        return jax.numpy.zeros(n)
    return x
