from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import jax
import jax.numpy as jnp
from jax import lax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.other = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.LayerNorm(2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x)

    def reset(self, x: jax.Array) -> None:
        self.linear.kernel[...] *= 0.0


class Scale(nnx.Module):
    def __init__(self) -> None:
        self.scale = nnx.Param(jnp.ones(2))


class Shift(nnx.Module):
    def __init__(self) -> None:
        self.shift = nnx.Param(jnp.ones(2))


class MayShift(nnx.Module):
    def __init__(self, flag: bool) -> None:
        if flag:
            self.scale = nnx.Param(jnp.ones(2))
        self.shift = nnx.Param(jnp.ones(2))


class Losses(TypedDict):
    loss: jax.Array


class Scores(TypedDict):
    score: jax.Array


def one(x: jax.Array) -> jax.Array:
    return x


def two(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return x, x


def nothing(x: jax.Array) -> None:
    return None


def optional(x: jax.Array) -> jax.Array | None:
    return x


def losses(x: jax.Array) -> Losses:
    return {"loss": x}


def scores(x: jax.Array) -> Scores:
    return {"score": x}


def changes(model, x):  # type: ignore[no-untyped-def]
    model.linear.kernel[...] += 1.0


def returns(model, x):  # type: ignore[no-untyped-def]
    return model.linear(x)


def with_default(x, scale=2.0):  # type: ignore[no-untyped-def]
    return x * scale


def two_returns(x):  # type: ignore[no-untyped-def]
    if x is None:
        return x, None
    return x, x


def first_of(*xs: jax.Array) -> jax.Array:
    return xs[0]


X = jnp.ones((1, 2))
YES = jnp.array(True)
MODEL = Model(nnx.Rngs(0))
SCALE, SHIFT = Scale(), Shift()
TABLE = (one, two)

# -- reports
# E: cond: true_fun `one` returns jax.Array, but false_fun `two` returns a tuple of 2. Fix: return the same structure  [nnx-branches]
nnx.cond(YES, one, two, X)
# E: cond: true_fun `one` returns jax.Array, but false_fun `nothing` returns None  [nnx-branches]
nnx.cond(YES, one, nothing, X)
# E: jax.lax.cond: true_fun `one` returns jax.Array, but false_fun `two` returns a tuple of 2  [nnx-branches]
jax.lax.cond(YES, one, two, X)
# E: jax.lax.cond: true_fun `one` returns jax.Array  [nnx-branches]
lax.cond(YES, one, two, X)
# E: jax.lax.cond: true_fun `one` returns jax.Array  [nnx-branches]
lax.cond(YES, one, two, operand=X)
# E: cond: true_fun returns a tuple of 2, but false_fun returns a tuple of 3  [nnx-branches]
nnx.cond(YES, lambda x: (x, x), lambda x: (x, x, x), X)
# E: cond: true_fun returns jax.Array at [1], but false_fun returns None  [nnx-branches]
nnx.cond(YES, lambda: (X, X), lambda: (X, None))
# E: cond: true_fun returns a tuple of 2, but false_fun returns a list of 2  [nnx-branches]
nnx.cond(YES, lambda x: (x, x), lambda x: [x, x], X)
# E: cond: true_fun returns a dict with the keys 'a', but false_fun returns a dict with the keys 'a', 'b'  [nnx-branches]
nnx.cond(YES, lambda x: {"a": x}, lambda x: {"a": x, "b": x}, X)
# E: returns a dict with the keys 'loss', but false_fun `scores` returns a dict with the keys 'score'  [nnx-branches]
nnx.cond(YES, losses, scores, X)
# E: cond: true_fun returns a number (float), but false_fun returns a number (int)  [nnx-branches]
nnx.cond(YES, lambda: 1.0, lambda: 1)
# E: jax.lax.cond: true_fun returns a number (float) at [0]  [nnx-branches]
jax.lax.cond(YES, lambda: (0.0, X), lambda: (0, X))
# E: cond: true_fun returns Linear, but false_fun returns LayerNorm  [nnx-branches]
nnx.cond(YES, lambda: MODEL.linear, lambda: MODEL.norm)
# E: cond: true_fun returns Param, but false_fun returns jax.Array  [nnx-branches]
nnx.cond(YES, lambda: MODEL.linear.kernel, lambda: MODEL.linear.kernel[...])
# E: cond: true_fun `changes` returns None, but false_fun returns jax.Array  [nnx-branches]
nnx.cond(YES, changes, lambda m, x: X, MODEL, X)
# E: cond: true_fun returns a tuple of 2, but false_fun `changes` returns None  [nnx-branches]
nnx.cond(YES, lambda m, x: (x, x), changes, MODEL, X)
# E: cond: true_fun `one` returns jax.Array, but false_fun `reset` returns None  [nnx-branches]
nnx.cond(YES, one, MODEL.reset, X)
# E: cond: true_fun returns jax.Array, but false_fun `nothing` returns None  [nnx-branches]
nnx.cond(YES, MODEL, nothing, X)

# E: cond: true_fun returns a State with `scale`, but false_fun returns a State without it  [nnx-branches]
nnx.cond(YES, lambda: nnx.state(SCALE), lambda: nnx.state(SHIFT))

# E: switch: branch 0 `one` returns jax.Array, but branch 2 `two` returns a tuple of 2  [nnx-branches]
nnx.switch(0, [one, one, two], X)
# E: jax.lax.switch: branch 0 `one` returns jax.Array, but branch 1 returns None  [nnx-branches]
jax.lax.switch(0, (one, lambda x: None), X)
# E: switch: there are no branches. Fix: give at least one function  [nnx-branches]
nnx.switch(0, [], X)
# E: jax.lax.switch: there are no branches  [nnx-branches]
jax.lax.switch(0, [], X)
# E: switch: branch 0 `one` returns jax.Array, but branch 1 `two` returns a tuple of 2  [nnx-branches]
nnx.switch(0, TABLE, X)

# E flax: cond: true_fun takes 1 parameter, but there are 2 operands. Fix: give every branch one parameter  [nnx-branches]
# E typed_nnx: Cannot infer type of lambda  [misc]
# E typed_nnx: Argument 2 to "cond" has incompatible type  [arg-type]
nnx.cond(YES, lambda x: x, lambda x, y: x, X, X)
# E: jax.lax.cond: false_fun takes 2 parameters, but there is 1 operand  [nnx-branches]
jax.lax.cond(YES, lambda x: x, lambda x, y: x, X)
# E: jax.lax.switch: branch 1 `one` takes 1 parameter, but there are 0 operands  [nnx-branches]
jax.lax.switch(0, [lambda: X, one])

# -- correct
nnx.cond(YES, one, lambda x: 2 * x, X)
nnx.cond(YES, changes, lambda m, x: None, MODEL, X)
nnx.cond(YES, lambda: 1.0, lambda: jnp.array(1.0))
nnx.cond(YES, lambda: (1, X), lambda: (jnp.array(1), X))
nnx.cond(YES, lambda x: {"a": x, "b": x}, lambda x: {"b": x, "a": x}, X)
nnx.cond(YES, lambda: MODEL.linear.kernel + 1.0, lambda: MODEL.linear.kernel[...])
nnx.cond(YES, lambda: nnx.Linear(2, 2, rngs=nnx.Rngs(0)), lambda: nnx.Linear(2, 2, rngs=nnx.Rngs(1)))
nnx.cond(YES, lambda: nnx.state(MODEL.linear), lambda: nnx.state(MODEL.other))
nnx.cond(YES, optional, one, X)
nnx.cond(YES, with_default, one, X)
nnx.cond(YES, first_of, one, X)
jax.lax.cond(YES, one, lambda x: -x, X)
jax.lax.cond(YES, lambda x: -x, one, operand=X)
nnx.switch(0, [one, lambda x: -x, optional], X)
jax.lax.switch(0, [lambda: X])


# -- unsure
def unsure(f: Callable[[jax.Array], Any], flag: bool, branches: list[Callable[..., jax.Array]], given: Any) -> None:
    nnx.cond(YES, f, two, X)
    nnx.cond(YES, lambda x: f(x), two, X)
    nnx.cond(YES, lambda x: (x, x) if flag else given, one, X)
    nnx.switch(0, branches, X)
    nnx.switch(0, [one, *branches], X)
    nnx.cond(YES, one, one, *given)
    nnx.cond(YES, returns, lambda m, x: (x, x), MODEL, X)
    nnx.cond(YES, MODEL, optional, X)
    nnx.cond(YES, two_returns, lambda x: (x, X), X)
    nnx.cond(YES, lambda: nnx.state(MayShift(flag)), lambda: nnx.state(SHIFT))
    pick = one if flag else given
    nnx.cond(YES, pick, two, X)
    nnx.cond(YES, yields, one, X)
    nnx.cond(YES, awaits, one, X)


def yields(x):
    yield x


async def awaits(x):
    return None
