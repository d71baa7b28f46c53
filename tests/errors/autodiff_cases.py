"""What goes wrong with derivatives."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Bag, Cases
from typed_nnx import errors

X = jnp.array(3.0)


def model() -> Bag:
    """Return a model with a weight and, deeper, a mean."""
    return Bag(w=nnx.Param(jnp.array(2.0)), norm=Bag(mean=nnx.BatchStat(jnp.array(1.0))))


def cube(x: Any) -> Any:
    """Return the third power."""
    return x**3


def ruled(fwd: Any = lambda x: (cube(x), x), bwd: Any = lambda x, g: (g[1],)) -> Any:
    """Return `cube` with a rule."""
    function = nnx.custom_vjp(cube)
    function.defvjp(fwd, bwd)
    return function


def closed_over(weight: Any) -> Any:
    """Differentiate by what a function with a rule closes over."""

    def scaled(x: Any) -> Any:
        return weight[...] * x

    function = nnx.custom_vjp(scaled)
    function.defvjp(lambda x: (scaled(x), None), lambda kept, g: (None,))
    return function(X)


def aux_missing() -> object:
    """Return a loss without auxiliary output."""
    three: Any = (1.0, 2.0, 3.0)
    return nnx.grad(lambda x: three, has_aux=True)(X)


CASES: Cases = {
    errors.ArgumentError: {
        "argnums that name nothing": (
            lambda: nnx.grad(cube, argnums=()),  # type: ignore[arg-type]  # as tested
            ("grad: argnums=()", "names no argument", "expected positions of arguments"),
            "argnums=0",
        ),
        "argnums of the wrong type": (
            lambda: nnx.grad(cube, argnums=(0, 1.5)),  # type: ignore[arg-type]  # that is the error
            ("grad: argnums=(0, 1.5)", "1.5 is not a position"),
            "argnums=0",
        ),
        "the same argument twice": (
            lambda: nnx.value_and_grad(lambda x, y: x, argnums=(1, -1))(X, X),  # type: ignore[arg-type]  # as tested
            ("value_and_grad: argnums=(1, -1)", "argnum 1 is repeated in argnums"),
            "argnums=0",
        ),
        "an argument that there is not": (
            lambda: nnx.grad(cube, argnums=2)(X),  # type: ignore[call-overload]  # as tested
            ("grad", "cube", "no argument 2", "takes 1 positional"),
            "positions count from 0",
        ),
    },
    errors.PrefixError: {
        "a DiffState where all Variables are differentiated": (
            lambda: nnx.grad(cube, argnums=nnx.DiffState(0, nnx.Param), graph=False),
            ("grad: `argnums`", "`graph=False` or `graph_updates=False`", "DiffState(argnum=0"),
            "give the position alone",
        )
    },
    errors.SharedReferenceError: {
        "an argument as the result of vjp": (
            lambda: nnx.vjp(lambda m: {"m": m.norm}, model()),
            ("vjp of ", "Duplicate Bag found at paths:", "m.norm", "result.m"),
            "return nnx.clone(...) of it",
        )
    },
    errors.TangentStructureError: {
        "a cotangent of another structure": (
            lambda: nnx.vjp(lambda x: nnx.Param(x), X)[1](X),  # type: ignore[arg-type]  # as tested
            (
                "vjp: ",
                "the cotangent of the result",
                "expected Param with its value",
                "got float32[]",
            ),
            "a State of all of these values",
        ),
        "a tangent with too little": (
            lambda: nnx.jvp(lambda m: m.w[...], (model(),), (nnx.state(model(), nnx.Param),)),
            ("jvp: ", "tangents[0]", "expected Bag with .norm.mean, .w", "got State with .w"),
            "a State of all of these values",
        ),
    },
    errors.MissingRuleError: {
        "a function without its rule": (
            lambda: nnx.custom_vjp(cube)(X),
            ("custom_vjp: No VJP defined for cube", "before defvjp"),
            "function.defvjp(fwd, bwd)",
        ),
        "a derivative that the rule does not give": (
            lambda: nnx.grad(closed_over)(nnx.Param(X)),
            ("custom_vjp: ", "scaled", "what it closes over", "no cotangent"),
            "pass the value as an argument",
        ),
    },
    errors.ResultError: {
        "fwd without residuals": (
            lambda: nnx.grad(ruled(fwd=cube))(X),
            ("custom_vjp: fwd", "a pair (result, residuals)", "it returned a"),
            "return result, residuals",
        ),
        "bwd with too many cotangents": (
            lambda: nnx.grad(ruled(bwd=lambda x, g: (g[1], g[1])))(X),
            ("custom_vjp: bwd", "a tuple of 1", "a tuple of 2"),
            "bwd with a tuple of one cotangent",
        ),
        "a loss that is no scalar": (
            lambda: nnx.grad(cube)(jnp.ones(3)),
            ("grad: Gradient only defined for scalar-output functions", "cube", "float32[3]"),
            "return loss.mean()",
        ),
        "auxiliary output that is missing": (
            aux_missing,
            ("grad: with has_aux=True", "(value, aux)", "tuple of 3"),
            "return value, aux",
        ),
    },
}
