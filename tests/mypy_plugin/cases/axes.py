from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.norm(self.linear(x))


def add(x: jax.Array, y: jax.Array) -> jax.Array:
    return x + y


def pair(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return x, x


def scaled(x: jax.Array, mode: str) -> jax.Array:
    return x if mode == "same" else 2 * x


def with_default(x: jax.Array, y: float = 1.0) -> jax.Array:
    return x + y


def total(*xs: jax.Array) -> jax.Array:
    return sum(xs, jnp.zeros(()))


def forward(model: Model, x: jax.Array) -> jax.Array:
    return model.linear(x)


def step(carry: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry + x, x


def step_of_three(carry: jax.Array, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry + x, y


BATCH = jnp.ones((3, 2))
MODEL = Model(nnx.Rngs(0))
THREE = (0, 0, 0)
PARAMS_ONLY = nnx.StateAxes({nnx.Param: None})

# -- reports
NAMED = (0, True)
nnx.vmap(add, in_axes=NAMED)  # E: a bool is not an axis  [nnx-axes]
# E: in_axes has 3 entries, but `add` takes 2 positional parameters (x, y)  [nnx-axes]
nnx.vmap(add, in_axes=(0, 0, 0))
# E: in_axes has 1 entry, but `add` takes 2 positional parameters (x, y)  [nnx-axes]
nnx.vmap(add, in_axes=(0,))
# E: in_axes has 3 entries  [nnx-axes]
nnx.vmap(add, in_axes=THREE)
# E: pmap of `add`: in_axes has 1 entry  [nnx-axes]
nnx.pmap(add, in_axes=(0,))
# E: jax.vmap of `add`: in_axes has 3 entries  [nnx-axes]
jax.vmap(add, in_axes=(0, 0, 0))
# E: jax.vmap of `add`: in_axes has 3 entries  [nnx-axes]
jax.vmap(add, (0, 0, 0))
# E: in_axes has 1 entry, but 2 arguments are given by position  [nnx-axes]
jax.vmap(add, in_axes=(0,))(BATCH, BATCH)
# E: in_axes has 1 entry, but 2 arguments are given by position  [nnx-axes]
nnx.vmap(total, in_axes=(0,))(BATCH, BATCH)
# E: in_axes has 1 entry, but the function takes 2 positional parameters (x, y)  [nnx-axes]
nnx.vmap(lambda x, y: x + y, in_axes=(0,))
# E: in_axes has 3 entries, but `with_default` takes 2  [nnx-axes]
nnx.vmap(with_default, in_axes=(0, 0, 0))
# E: in_axes has 2 entries, but the function takes 1 positional parameter (rngs)  [nnx-axes]
nnx.vmap(Model, in_axes=(0, 0))
# E: in_axes has 1 entry  [nnx-axes]
nnx.vmap(in_axes=(0,))(add)
# E: in_axes has 1 entry  [nnx-axes]
partial(nnx.vmap, in_axes=(0,))(add)


# E: in_axes has 3 entries, but `decorated` takes 2 positional parameters (x, y)  [nnx-axes]
@nnx.vmap(in_axes=(0, None, 0))
def decorated(x: jax.Array, y: jax.Array) -> jax.Array:
    return x + y


@nnx.vmap(in_axes=(0, None))
def inner(x: jax.Array, y: jax.Array) -> jax.Array:
    return x + y


# E: in_axes has 3 entries, but `inner` takes 2 positional parameters (x, y)  [nnx-axes]
nnx.vmap(inner, in_axes=(None, 0, 0))


# E: in_axes has 1 entry  [nnx-axes]
@partial(nnx.vmap, in_axes=(0,))
def decorated_by_partial(x: jax.Array, y: jax.Array) -> jax.Array:
    return x + y


class WithMethod(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)

    # E: in_axes has 1 entry, but `run` takes 2 positional parameters (self, x)  [nnx-axes]
    @nnx.vmap(in_axes=(0,))
    def run(self, x: jax.Array) -> jax.Array:
        return self.linear(x)


# E: vmap of `add`: no parameter has an axis, so there is nothing to map over  [nnx-axes]
nnx.vmap(add, in_axes=(None, None))
# E: no parameter has an axis  [nnx-axes]
nnx.vmap(add, in_axes=None)
# E: no parameter has an axis  [nnx-axes]
nnx.vmap(forward, in_axes=(nnx.StateAxes({...: None}), None))
# E: no parameter has an axis  [nnx-axes]
jax.vmap(add, in_axes=(None, None))(BATCH, BATCH)
# E: scan of `step`: no parameter has an axis, so the number of steps is not known. Fix: give length  [nnx-axes]
nnx.scan(step, in_axes=(nnx.Carry, None))

# E: a str has no axis to map over (`mode`). Fix: give None  [nnx-axes]
nnx.vmap(scaled)
# E: a str has no axis to map over (`mode`)  [nnx-axes]
nnx.vmap(scaled, in_axes=(0, 0))
# E: a str has no axis to map over (`mode`)  [nnx-axes]
jax.vmap(scaled, in_axes=(0, 0))
# E: a number has no axis to map over  [nnx-axes]
nnx.vmap(lambda x, n: x + n)(BATCH, 3)
# E: StateAxes is for Modules and Variables, but this is jax.Array (`y`)  [nnx-axes]
nnx.vmap(add, in_axes=(0, nnx.StateAxes({...: 0})))
# E: a tuple of 2 axes for jax.Array (`x`)  [nnx-axes]
nnx.vmap(add, in_axes=((0, 0), 0))
# E: a tuple of 2 axes for Model (`model`)  [nnx-axes]
nnx.vmap(forward, in_axes=((0, 0), 0))
# E: StateAxes has no axis for `Model.norm.mean` (BatchStat) (`model`)  [nnx-axes]
nnx.vmap(forward, in_axes=(nnx.StateAxes({nnx.Param: 0}), 0))
# E: StateAxes has no axis for `Model.norm.mean` (BatchStat)  [nnx-axes]
nnx.vmap(forward, in_axes=(PARAMS_ONLY, 0))
# E: StateAxes has no axis for `Model.norm.mean`  [nnx-axes]
nnx.vmap(forward, in_axes=(nnx.StateAxes([(nnx.Param, 0)]), 0))


# E: StateAxes has no axis for `Model.norm.mean`  [nnx-axes]
@nnx.scan(in_axes=(PARAMS_ONLY, nnx.Carry, 0), out_axes=(nnx.Carry, 0))
def scan_model(model: Model, carry: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry, model(x)


# E: vmap of `add`: a bool is not an axis. Fix: use a whole number or None  [nnx-axes]
nnx.vmap(add, in_axes=(True, 0))
# E: a float is not an axis  [nnx-axes]
nnx.vmap(add, in_axes=(0.0, 0))
# E: a str is not an axis  [nnx-axes]
nnx.vmap(add, in_axes=(0, "x"))
# E: vmap of `add`: only scan has a Carry  [nnx-axes]
nnx.vmap(add, in_axes=(nnx.Carry, 0))
# E: vmap of `forward`: only scan has a Carry  [nnx-axes]
nnx.vmap(forward, in_axes=(nnx.StateAxes({...: nnx.Carry}), 0))
# E: jax.vmap of `forward`: jax does not know StateAxes. Fix: use nnx.vmap  [nnx-axes]
jax.vmap(forward, in_axes=(nnx.StateAxes({...: None}), 0))
# E: StateAxes: a str is not an axis  [nnx-axes]
nnx.StateAxes({nnx.Param: "0"})

# E: vmap of `pair`: a tuple of 3 axes for a tuple of 2, which the function returns  [nnx-axes]
nnx.vmap(pair, out_axes=(0, 0, 0))
# E: a tuple of 1 axes for a tuple of 2  [nnx-axes]
nnx.vmap(pair, out_axes=(0,))
# E: a list of 2 axes for a tuple of 2  [nnx-axes]
nnx.vmap(pair, out_axes=[0, 0])
# E: a tuple of 2 axes for jax.Array  [nnx-axes]
nnx.vmap(add, out_axes=(0, 0))
# E: jax.vmap of `add`: a tuple of 2 axes for jax.Array  [nnx-axes]
jax.vmap(add, out_axes=(0, 0))
# E: a tuple of 3 axes for a tuple of 2  [nnx-axes]
nnx.vmap(lambda x: (x, x), out_axes=(0, 0, 0))
# E: a tuple of 3 axes for a tuple of 2  [nnx-axes]
nnx.vmap(lambda x: (x, (x, x)), out_axes=(0, (0, 0, 0)))
# E: StateAxes is for Modules and Variables  [nnx-axes]
nnx.vmap(add, out_axes=nnx.StateAxes({...: 0}))

# E: scan of `step_of_three`: in_axes is (Carry, 0) where it is not given, but `step_of_three` takes 3 positional parameters (carry, x, y)  [nnx-axes]
nnx.scan(step_of_three)
# E: in_axes has 3 entries, but `step` takes 2  [nnx-axes]
nnx.scan(step, in_axes=(nnx.Carry, 0, 0))
# E: in_axes is Carry, for one parameter, but `step` takes 2  [nnx-axes]
nnx.scan(step, in_axes=nnx.Carry, length=3)
# E: out_axes is for a tuple of 3, but the function returns a tuple of 2  [nnx-axes]
nnx.scan(step, out_axes=(nnx.Carry, 0, 0))
# E: out_axes is for a tuple of 2, but the function returns jax.Array  [nnx-axes]
nnx.scan(add)
# E: out_axes is for a tuple of 2, but the function returns a list of 2  [nnx-axes]
nnx.scan(lambda c, x: [c, x])
# E: out_axes has None, but each step has a result of its own  [nnx-axes]
nnx.scan(step, out_axes=(nnx.Carry, None))


# E: out_axes is for a tuple of 2, but the function returns a tuple of 3  [nnx-axes]
@nnx.scan
def three_results(carry, x):  # type: ignore[no-untyped-def]
    return carry, x, x


# E: scan takes no str, whatever its axis (`mode`)  [nnx-axes]
@nnx.scan(in_axes=(nnx.Carry, 0, None))
def scan_str(carry: jax.Array, x: jax.Array, mode: str) -> tuple[jax.Array, jax.Array]:
    return carry, x


# -- correct
nnx.vmap(add, in_axes=(0, 0))(BATCH, BATCH)
nnx.vmap(add, in_axes=(0, None))(BATCH, BATCH[0])
nnx.vmap(add, in_axes=(0, 0))(BATCH, y=BATCH)
jax.vmap(add, in_axes=(0,))(BATCH, y=BATCH)
jax.vmap(add, in_axes=None)(x=BATCH, y=BATCH)
jax.vmap(add, in_axes=[0, 0])(BATCH, BATCH)
nnx.vmap(add, in_axes=(None, None), axis_size=3)(BATCH, BATCH)
nnx.vmap(with_default, in_axes=(0, None))(BATCH, 1.0)
broadcast = partial(nnx.vmap, in_axes=(None, None))
broadcast(add, axis_size=3)(BATCH, BATCH)
nnx.vmap(total, in_axes=(0, 0, None))(BATCH, BATCH, BATCH)
nnx.vmap(scaled, in_axes=(0, None))(BATCH, "same")
nnx.vmap(lambda x, n: x + n, in_axes=(0, None))(BATCH, 3)
nnx.vmap(partial(add, BATCH), in_axes=(0,))(BATCH)
nnx.vmap(forward, in_axes=(None, 0))(MODEL, BATCH[None])
nnx.vmap(forward, in_axes=(nnx.StateAxes({nnx.Param: None, ...: None}), 0))(MODEL, BATCH[None])
nnx.vmap(forward, in_axes=(nnx.StateAxes({(nnx.Param, nnx.BatchStat): None}), 0))(
    MODEL, BATCH[None]
)
nnx.vmap(pair, out_axes=(0, 1))(BATCH)
nnx.vmap(pair, out_axes=0)(BATCH)
nnx.vmap(lambda x: (x, (x, x)), out_axes=(0, 0))(BATCH)
nnx.vmap(lambda x: None)(BATCH)
nnx.scan(step)(BATCH[0], BATCH)
nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))(BATCH[0], BATCH)
nnx.scan(step, in_axes=(nnx.Carry, None), length=3)(BATCH[0], BATCH[0])
nnx.scan(lambda x: x, in_axes=0, out_axes=0)(BATCH)
nnx.scan(lambda c: c, in_axes=nnx.Carry, out_axes=nnx.Carry, length=3)(BATCH)
nnx.scan(lambda c, x: (c, None), in_axes=(nnx.Carry, 0))(BATCH[0], BATCH)


@nnx.vmap(in_axes=(nnx.StateAxes({nnx.Param: 0, ...: None}), None), axis_size=2)
def made(rngs: nnx.Rngs, n: int) -> int:
    return n


class Stack(nnx.Module):
    @nnx.vmap(in_axes=(0, 0))
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)


# -- unsure
def unsure(axes: tuple[int, ...], one: int, filters: nnx.StateAxes) -> None:
    nnx.vmap(add, in_axes=axes)
    nnx.vmap(add, in_axes=(one, None))
    nnx.vmap(forward, in_axes=(filters, 0))
    nnx.vmap(add, in_axes=(*axes, 0, 0))
    nnx.vmap(many, out_axes=(0, 0))
    nnx.vmap(with_mode)  # flax maps the default, too
    nnx.vmap(at_times, in_axes=(nnx.StateAxes({nnx.Param: 0}), 0))


class AtTimes(nnx.Module):
    def __init__(self, has_mean: bool) -> None:
        self.scale = nnx.Param(jnp.ones(3))
        if has_mean:
            self.mean = nnx.BatchStat(jnp.zeros(3))


def at_times(model: AtTimes, x: jax.Array) -> jax.Array:
    return model.scale * x


def many(x: jax.Array) -> tuple[jax.Array, ...]:
    return (x,)[:1]


def with_mode(x: jax.Array, mode: str = "same") -> jax.Array:
    return x
