from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)


class Output(NamedTuple):
    loss: jax.Array
    logits: jax.Array


model = Model(nnx.Rngs(0))
x = jax.numpy.ones((4, 2))


def loss(model: Model, x: jax.Array) -> jax.Array:
    return model.linear(x).sum()


def with_logits(model: Model, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    logits = model.linear(x)
    return logits.sum(), logits


def three(model: Model, x: jax.Array) -> tuple[jax.Array, jax.Array, int]:
    return x.sum(), x, 1


def nothing(model: Model) -> None:
    model.linear(x)


def table(model: Model) -> dict[str, jax.Array]:
    return {"loss": x.sum()}


def named(model: Model) -> Output:
    return Output(x.sum(), x)


def unannotated(model, x):
    logits = model.linear(x)
    return logits.sum(), logits


# -- reports
nnx.grad(with_logits)  # E: grad of `with_logits`: it returns a tuple of 2, which has no gradient. Fix: has_aux=True where the second comes with the loss, or return the loss alone  [nnx-has-aux]
nnx.value_and_grad(with_logits)  # E: it returns a tuple of 2  [nnx-has-aux]
nnx.value_and_grad(with_logits, has_aux=False)  # E: it returns a tuple of 2  [nnx-has-aux]
jax.grad(with_logits)  # E: it returns a tuple of 2  [nnx-has-aux]
jax.value_and_grad(with_logits, 0, False)  # E: it returns a tuple of 2  [nnx-has-aux]
nnx.grad(unannotated)  # E: it returns a tuple of 2  [nnx-has-aux]
nnx.grad(lambda m: (m.linear(x).sum(), x))  # E: it returns a tuple of 2  [nnx-has-aux]
partial(nnx.grad, argnums=1)(with_logits)  # E: it returns a tuple of 2  [nnx-has-aux]
nnx.grad(table)  # E: it returns a dict with the keys 'loss', which has no gradient. Fix: return the loss alone  [nnx-has-aux]
nnx.grad(nothing)  # E: it returns None, which has no gradient  [nnx-has-aux]
nnx.grad(three)  # E: it returns a tuple of 3, which has no gradient. Fix: return the loss alone  [nnx-has-aux]
nnx.grad(named)  # E: it returns Output, which has no gradient  [nnx-has-aux]
jax.grad(loss, has_aux=True)  # E: it returns jax.Array, and `has_aux` asks for a loss and what comes with it. Fix: return loss, aux, or leave `has_aux` out  [nnx-has-aux]
jax.grad(loss, 0, True)  # E: it returns jax.Array  [nnx-has-aux]
jax.value_and_grad(three, has_aux=True)  # E: it returns a tuple of 3, and `has_aux` asks  [nnx-has-aux]


@nnx.grad  # E: it returns a tuple of 2  [nnx-has-aux]
def decorated(model: Model) -> tuple[jax.Array, int]:
    return x.sum(), 1


# -- correct
nnx.grad(loss)
nnx.grad(with_logits, has_aux=True)
nnx.value_and_grad(unannotated, has_aux=True)
jax.grad(with_logits, has_aux=True)
jax.value_and_grad(with_logits, 0, True)
jax.jacrev(with_logits)
nnx.grad(named, has_aux=True)


# -- unsure
def from_outside(f: Callable[[Model], jax.Array], has_aux: bool, any_loss) -> None:
    nnx.grad(f)
    nnx.grad(any_loss)
    jax.grad(with_logits, has_aux=has_aux)


def wrapping(f: Callable[..., tuple[jax.Array, int]]) -> Callable[..., jax.Array]:
    return lambda *args: f(*args)[0]


@wrapping
def wrapped(x: jax.Array) -> tuple[jax.Array, int]:
    return x.sum(), 1


nnx.grad(wrapped)
