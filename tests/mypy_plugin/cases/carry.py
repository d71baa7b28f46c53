from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)


class Other(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(2, 2, 1, rngs=rngs)


def step(carry: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry + x, x


def scores(model: Model, x: jax.Array) -> jax.Array:
    return model.linear(x)


def longer(carry: tuple[jax.Array, jax.Array], x: jax.Array) -> tuple[tuple[jax.Array, jax.Array, jax.Array], None]:
    return (*carry, x), None


def other_class(carry: Model, x: jax.Array) -> tuple[Other, jax.Array]:
    return OTHER, x


def to_array(carry: Model, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry.linear(x), x


def forgotten(carry: jax.Array, x):  # type: ignore[no-untyped-def]
    return None, x


def other_variable(carry: nnx.Param[jax.Array], x: jax.Array) -> tuple[nnx.BatchStat[jax.Array], jax.Array]:
    return nnx.BatchStat(carry[...] + x), x


def number(carry: int, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry + x.sum(), x


def base_class(carry: nnx.Module, x: jax.Array) -> tuple[Model, jax.Array]:
    return MODEL, x


def optional(carry: jax.Array | None, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return x, x


def same_model(carry: Model, x: jax.Array) -> tuple[Model, jax.Array]:
    return carry, carry.linear(x)


def pairs(carry: tuple[Any, ...], x: jax.Array) -> tuple[tuple[Any, Any], jax.Array]:
    return (carry[0], carry[1]), x


def some_carry() -> Any: ...


MODEL = Model(nnx.Rngs(0))
OTHER = Other(nnx.Rngs(0))
BATCH = jnp.ones((3, 2))
FIRST = BATCH[0]

# -- reports
# E: scan of `step`: in_axes has a Carry, but out_axes has none. Fix: use in_axes=(nnx.Carry, 0)  [nnx-carry]
nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=0)
# E: scan of `step`: in_axes has a Carry, its default, but out_axes has none  [nnx-carry]
nnx.scan(step, out_axes=0)
# E: scan of `scores`: out_axes has a Carry, but in_axes has none  [nnx-carry]
nnx.scan(scores, in_axes=(None, 0), out_axes=nnx.Carry)
# E: scan: out_axes has a Carry, its default, but in_axes has none. Fix: give out_axes=0  [nnx-carry]
nnx.scan(lambda x: (x, x), in_axes=0)
# E: in_axes has 2 Carrys, but there is one carry. Fix: carry a tuple of all that is carried  [nnx-carry]
nnx.scan(step, in_axes=(nnx.Carry, nnx.Carry), length=3)
# E: out_axes has 2 Carrys  [nnx-carry]
nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, nnx.Carry))
# E: in_axes has a Carry for a part of a parameter or result  [nnx-carry]
nnx.scan(lambda c, x: (c, x), in_axes=((nnx.Carry, 0), 0))


# E: scan of `decorated`: in_axes has a Carry, but out_axes has none  [nnx-carry]
@nnx.scan(in_axes=(nnx.Carry, 0), out_axes=0)
def decorated(carry: jax.Array, x: jax.Array) -> jax.Array:
    return carry + x


class WithScan(nnx.Module):
    # E: out_axes has a Carry, its default, but in_axes has none  [nnx-carry]
    @nnx.scan(in_axes=(None, 0))
    def run(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return x, x


# E: scan of `longer`: `carry` is a tuple of 2, but a step returns a tuple of 3 for it  [nnx-carry]
nnx.scan(longer)
# E: scan of `other_class`: `carry` is Model, but a step returns Other for it  [nnx-carry]
nnx.scan(other_class)
# E: scan of `to_array`: `carry` is Model, but a step returns jax.Array for it  [nnx-carry]
nnx.scan(to_array)
# E: scan of `forgotten`: `carry` is jax.Array, but a step returns None. Fix: return the carry  [nnx-carry]
nnx.scan(forgotten)
# E: scan of `other_variable`: `carry` is Param, but a step returns BatchStat for it  [nnx-carry]
nnx.scan(other_variable)


# E: scan of `second`: `carry` is jax.Array, but a step returns a tuple of 2 for it  [nnx-carry]
@nnx.scan(in_axes=(None, nnx.Carry, 0), out_axes=(0, nnx.Carry))
def second(model: Model, carry: jax.Array, x: jax.Array):  # type: ignore[no-untyped-def]
    return model.linear(x), (carry, x)


def grow(carry):  # type: ignore[no-untyped-def]
    return carry, carry


def grow_at(i, carry):  # type: ignore[no-untyped-def]
    return carry, carry


def change(model):  # type: ignore[no-untyped-def]
    model.linear.kernel[...] += 1.0


# flax's own while_loop and fori_loop have no types, so mypy asks no plugin.
# E typed_nnx: while_loop: the carry is jax.Array, but a step returns a tuple of 2 for it  [nnx-carry]
nnx.while_loop(lambda c: c.sum() < 3, grow, FIRST)
# E typed_nnx: while_loop: the carry is Model, but a step returns None. Fix: return the carry  [nnx-carry]
nnx.while_loop(lambda m: m.linear.kernel.sum() < 3, change, MODEL)
# E typed_nnx: fori_loop: the carry is jax.Array, but a step returns a tuple of 2 for it  [nnx-carry]
nnx.fori_loop(0, 3, grow_at, FIRST)
# E: jax.lax.fori_loop: the carry is jax.Array, but a step returns a tuple of 2 for it  [nnx-carry]
jax.lax.fori_loop(0, 3, lambda i, c: (c, c), FIRST)
# E: jax.lax.fori_loop: the carry[1] is int, but a step returns None for it  [nnx-carry]
jax.lax.fori_loop(0, 3, lambda i, c: (c[0], None), (FIRST, 0))
# E: jax.lax.fori_loop: the carry is a list of 1, but a step returns a tuple of 1 for it  [nnx-carry]
jax.lax.fori_loop(0, 3, lambda i, c: (c[0],), [FIRST])
# E: jax.lax.fori_loop: the carry is a dict with the keys 'a', but a step returns a dict with the keys 'b' for it  [nnx-carry]
jax.lax.fori_loop(0, 3, lambda i, c: {"b": c["a"]}, {"a": FIRST})
# E: jax.lax.while_loop: the carry is jax.Array, but a step returns a tuple of 2 for it  [nnx-carry]
jax.lax.while_loop(lambda c: c.sum() < 3, grow, FIRST)


def no_pair(carry, x):  # type: ignore[no-untyped-def]
    return carry, x, x


def pair_of_pair(carry, x):  # type: ignore[no-untyped-def]
    return (carry, x), x


# E: jax.lax.scan: the body returns a tuple of 3, but must return a carry and an output  [nnx-carry]
jax.lax.scan(no_pair, FIRST, BATCH)
# E: jax.lax.scan: the carry is jax.Array, but a step returns a tuple of 2 for it  [nnx-carry]
jax.lax.scan(pair_of_pair, FIRST, BATCH)



def unpacks(carry, x):  # type: ignore[no-untyped-def]
    first, second = carry
    return (first, second, x), x


def returns_three(carry, x):  # type: ignore[no-untyped-def]
    return (carry, x, x), x


# E: scan of `unpacks`: `carry` is unpacked into 2, but a step returns a tuple of 3 for it  [nnx-carry]
nnx.scan(unpacks)
# E: jax.lax.scan: the carry is unpacked into 2, but a step returns a tuple of 3 for it  [nnx-carry]
jax.lax.scan(unpacks, some_carry(), BATCH)
# E: scan of `returns_three`: `carry` is a tuple of 2, but a step returns a tuple of 3 for it  [nnx-carry]
nnx.scan(returns_three, in_axes=(nnx.Carry, 0))((FIRST, FIRST), BATCH)

# -- correct
nnx.scan(step)(FIRST, BATCH)
nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))(FIRST, BATCH)
nnx.scan(lambda c, x: c + x, in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(FIRST, BATCH)
nnx.scan(lambda c: (c, c), in_axes=nnx.Carry, length=2)(FIRST)
nnx.scan(scores, in_axes=(None, 0), out_axes=0)(MODEL, BATCH)
nnx.scan(scores, in_axes=(nnx.StateAxes({...: nnx.Carry}), 0), out_axes=0)(MODEL, BATCH)
nnx.scan(number)(0, BATCH)
nnx.scan(base_class, in_axes=(nnx.Carry, 0)) if MODEL is None else None
nnx.scan(same_model)(MODEL, BATCH)
nnx.scan(optional)(FIRST, BATCH)
nnx.scan(pairs)((FIRST, FIRST), BATCH)
nnx.scan(lambda c, x: ((c[0] + x, c[1]), None))((FIRST, FIRST), BATCH)


def changed(model):  # type: ignore[no-untyped-def]
    model.linear.kernel[...] += 1.0
    return model


def unpacks_well(carry, x):  # type: ignore[no-untyped-def]
    first, second = carry
    return (first + x, second), x


def shortens(carry, x):  # type: ignore[no-untyped-def]
    carry = carry[:2]
    first, second = carry
    return (first, second, x), x


def unpacks_array(carry, x):  # type: ignore[no-untyped-def]
    first, second = carry
    return jnp.stack([first, second]), x


nnx.scan(unpacks_well)((FIRST, FIRST), BATCH)
nnx.scan(shortens)((FIRST, FIRST, FIRST), BATCH)
nnx.scan(unpacks_array)(FIRST, BATCH)


def either(i, carry):  # type: ignore[no-untyped-def]
    if i is None:
        return None
    return carry


nnx.while_loop(lambda m: m.linear.kernel.sum() < 3, changed, MODEL)
nnx.while_loop(lambda c: c < 3, lambda c: c + 1, 0)
nnx.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (0, FIRST))
nnx.fori_loop(0, 3, lambda i, c: c + i, FIRST)
nnx.fori_loop(0, 3, lambda i, c: c + 1, 0)
jax.lax.fori_loop(0, 3, either, FIRST)
jax.lax.fori_loop(0, 3, lambda i, c: (c[0] + 1, [c[1][0]]), (0, [FIRST]))
jax.lax.fori_loop(0, 3, lambda i, c: jnp.asarray(c + 1), 0)
jax.lax.scan(lambda c, x: (c + x, x), FIRST, BATCH)


# -- unsure
def unsure(first: Any, body: Any, either: jax.Array | None, axes: Any) -> None:
    nnx.scan(step, in_axes=axes, out_axes=0)
    nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=axes)
    nnx.scan(step, in_axes=axes)
    nnx.scan(step, in_axes=(axes, 0), out_axes=0)
    nnx.while_loop(lambda c: True, body, FIRST)
    nnx.while_loop(lambda c: True, grow, first)
    jax.lax.fori_loop(0, 3, lambda i, c: (c, c), either)
    jax.lax.fori_loop(0, 3, lambda i, c: first, FIRST)


def stops(carry):  # type: ignore[no-untyped-def]
    raise NotImplementedError


def stops_in_a_loop(carry):  # type: ignore[no-untyped-def]
    while True:
        raise NotImplementedError


class Base:
    def body(self, carry):  # type: ignore[no-untyped-def]
        pass

    def run(self) -> None:
        jax.lax.while_loop(lambda c: True, self.body, FIRST)
        jax.lax.while_loop(lambda c: True, stops, FIRST)
        jax.lax.while_loop(lambda c: True, stops_in_a_loop, FIRST)
        # mypy knows all types here, so it says so alone.
        # E: Incompatible return value type  [return-value]
        # E: Argument 2 to "while_loop" has incompatible type  [arg-type]
        jax.lax.while_loop(lambda c: True, lambda c: (c, c), FIRST)


def several_definitions(flag: bool) -> None:
    if flag:

        def body(carry, x):  # type: ignore[no-untyped-def]
            return (carry, x), x
    else:

        def body(carry, x):  # type: ignore[no-untyped-def]
            return carry, x

    def bound_again(carry, x):  # type: ignore[no-untyped-def]
        return (carry, x), x

    bound_again = jax.value_and_grad(bound_again)
    jax.lax.scan(body, FIRST, BATCH)
    jax.lax.scan(bound_again, FIRST, BATCH)
