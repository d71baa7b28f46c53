"""Types of `vjp`, `jvp` and `custom_vjp`: cotangents, tangents, rules."""

from __future__ import annotations

from typing import Any, assert_type

import jax
import numpy as np

import typed_nnx as nnx
from tests.assert_type.models import CNN, MLP


def one(model: MLP) -> jax.Array:
    """Return a value, float32 []."""
    return model(jax.numpy.ones(3)).mean()


def many(model: MLP, x: jax.Array, other: CNN, layer: nnx.Param[jax.Array]) -> jax.Array:
    """Return a value, float32 []."""
    return (model(x) + other(x) + layer[...]).mean()


def five(a: jax.Array, b: jax.Array, c: jax.Array, d: jax.Array, e: jax.Array) -> jax.Array:
    """Return a value, float32 []."""
    return a + b + c + d + e


def defaults(model: MLP, x: jax.Array, count: int = 3) -> jax.Array:
    """Return a value, float32 []."""
    return model(x).mean() * count


def with_aux(model: MLP, x: jax.Array) -> tuple[jax.Array, int]:
    """Return a value, float32 [], and what came with it."""
    return model(x).mean(), 3


def changed(model: MLP) -> CNN:
    """Return another Module."""
    return CNN(model.classes, rngs=nnx.Rngs(0))


def pulled(
    model: MLP, x: jax.Array, other: CNN, layer: nnx.Param[jax.Array], values: np.ndarray[Any, Any]
) -> None:
    """`vjp` returns what takes a cotangent of the result to those of the arguments."""
    out, pull = nnx.vjp(one, model)
    assert_type(out, jax.Array)
    assert_type(pull(x), tuple[MLP])
    assert_type(pull(values), tuple[MLP])
    assert_type(pull(1.0), tuple[MLP])
    assert_type(nnx.vjp(defaults, model, x)[1](x), tuple[MLP, jax.Array])
    assert_type(nnx.vjp(defaults, model, x, 2)[1](x), tuple[MLP, jax.Array, int])
    assert_type(
        nnx.vjp(many, model, x, other, layer)[1](x),
        tuple[MLP, jax.Array, CNN, nnx.Param[jax.Array]],
    )
    assert_type(nnx.vjp(five, x, x, x, x, x)[1](x), tuple[Any, ...])
    assert_type(nnx.vjp(lambda m, y: x, model, layer)[1](x), tuple[MLP, nnx.Param[jax.Array]])
    out, pull_two, aux = nnx.vjp(with_aux, model, x, has_aux=True)
    assert_type(out, jax.Array)
    assert_type(aux, int)
    assert_type(pull_two(x), tuple[MLP, jax.Array])
    nnx.vjp(one, x)  # E
    nnx.vjp(one, model, x)  # E
    nnx.vjp(many, model)  # E
    nnx.vjp(one, model, has_aux=True)  # E
    nnx.vjp(3, model)  # E
    pull(model)  # E
    pull(x, x)  # E


def pulled_from_modules(model: MLP, other: CNN, state: nnx.State, x: jax.Array) -> None:
    """The cotangent of a Module is a Module or a State."""
    _, pull = nnx.vjp(changed, model)
    assert_type(pull(other), tuple[MLP])
    assert_type(pull(state), tuple[MLP])
    pull(x)  # E
    pull(model)  # E


def pulled_later(model: MLP, x: jax.Array) -> None:
    """Without arguments, `vjp` returns a function of them."""

    @nnx.vjp()
    def decorated(model: MLP, x: jax.Array) -> jax.Array:
        return model(x).mean()

    assert_type(nnx.vjp(one)(model)[0], jax.Array)
    assert_type(decorated(model, x)[0], jax.Array)
    assert_type(nnx.vjp(with_aux, has_aux=True)(model, x)[2], int)
    nnx.vjp(one)(x)  # E
    decorated(model)  # E
    nnx.vjp(has_aux=True)(one)  # E


def pushed(
    model: MLP, x: jax.Array, other: CNN, layer: nnx.Param[jax.Array], state: nnx.State
) -> None:
    """`jvp` takes a tangent for each argument."""
    assert_type(nnx.jvp(one, (model,), (model,)), tuple[jax.Array, jax.Array])
    assert_type(nnx.jvp(one, (model,), (state,)), tuple[jax.Array, jax.Array])
    assert_type(nnx.jvp(defaults, (model, x), (state, x)), tuple[jax.Array, jax.Array])
    assert_type(
        nnx.jvp(many, (model, x, other, layer), (model, x, state, layer)),
        tuple[jax.Array, jax.Array],
    )
    assert_type(nnx.jvp(lambda k: k[...] ** 2, (layer,), (layer,)), tuple[jax.Array, jax.Array])
    assert_type(nnx.jvp(defaults, [model, x], [model, x]), tuple[jax.Array, jax.Array])
    assert_type(nnx.jvp(changed, (model,), (model,)), tuple[CNN, CNN])
    assert_type(
        nnx.jvp(with_aux, (model, x), (model, x), has_aux=True), tuple[jax.Array, jax.Array, int]
    )
    assert_type(nnx.jvp(one)((model,), (model,)), tuple[jax.Array, jax.Array])
    assert_type(
        nnx.jvp(has_aux=True)(with_aux)((model, x), (model, x)), tuple[jax.Array, jax.Array, int]
    )
    nnx.jvp(one, (x,), (x,))  # E
    nnx.jvp(one, (model,), (x,))  # E
    nnx.jvp(one, (model,), (model, model))  # E
    nnx.jvp(one, (model,))  # E
    nnx.jvp(defaults, (model, x), (x, x))  # E
    nnx.jvp(one, (model,), (model,), has_aux=True)  # E
    nnx.jvp(one, model, model)  # E


@nnx.custom_vjp
def clipped(model: MLP, x: jax.Array, *, limit: float = 1.0) -> jax.Array:
    """Return a value, float32 []."""
    return model(x).mean().clip(-limit, limit)


@nnx.custom_vjp(nondiff_argnums=(1,))
def partly(model: MLP, x: jax.Array) -> jax.Array:
    """Return a value, float32 []."""
    return model(x).mean()


def forward(model: MLP, y: jax.Array) -> tuple[jax.Array, int]:
    """Return a value, float32 [], and residuals."""
    return model(y).mean(), 3


def forward_of_another(model: MLP, y: jax.Array) -> tuple[CNN, int]:
    """Return something else."""
    return changed(model), 3


def backward(residuals: int, cotangents: Any) -> tuple[Any, jax.Array]:
    """Return cotangents."""
    return cotangents, cotangents


def no_backward(residuals: int, cotangents: Any) -> jax.Array:
    """Return no tuple."""
    return jax.numpy.ones(residuals)


def rules(model: MLP, x: jax.Array) -> None:
    """A function with a rule is called as before, and its rule must fit."""
    clipped.defvjp(forward, backward)
    partly.defvjp(fwd=forward, bwd=lambda x, residuals, cotangents: (None,), symbolic_zeros=True)
    assert_type(clipped(model, x, limit=2.0), jax.Array)
    assert_type(partly(model, x=x), jax.Array)
    assert_type(nnx.grad(clipped)(model, x), nnx.State[Any, Any, MLP, type[nnx.Param[Any]]])
    clipped.defvjp(forward)  # E
    clipped.defvjp(one, backward)  # E
    clipped.defvjp(forward_of_another, backward)  # E
    clipped.defvjp(forward, no_backward)  # E
    clipped(x, x)  # E
    clipped(model, x, 2.0)  # E
    nnx.custom_vjp(3)  # E
