"""Types of `eval_shape`, `make_jaxpr` and `checkify`."""

from __future__ import annotations

from typing import Any, assert_type

import jax
from jax.experimental.checkify import Error, float_checks
from jax.extend.core import ClosedJaxpr

import typed_nnx as nnx
from tests.assert_type.models import MLP, Block


def apply(model: MLP, x: jax.Array, *, top: int = 1) -> jax.Array:
    """Return classes."""
    return model.predict(x, top=top)


class Checked(nnx.Module):
    """Has transformed methods."""

    @nnx.checkify
    def safe(self, x: jax.Array) -> jax.Array:
        """Return it."""
        return x

    @nnx.make_jaxpr
    def program(self, x: jax.Array) -> jax.Array:
        """Return it."""
        return x


def eval_shape(model: MLP, x: jax.Array, shape: jax.ShapeDtypeStruct, rngs: nnx.Rngs) -> None:
    """What a function would return for arguments or shapes of them."""
    assert_type(nnx.eval_shape(apply, model, x), jax.Array)
    assert_type(nnx.eval_shape(apply, model, x=x, top=2), jax.Array)
    assert_type(nnx.eval_shape(apply, model, shape, top=2), jax.Array)
    assert_type(nnx.eval_shape(model, shape), jax.Array)
    assert_type(nnx.eval_shape(MLP, 4, rngs=rngs), MLP)
    assert_type(nnx.eval_shape(lambda: Block(3, rngs=nnx.Rngs(0))), Block)
    assert_type(nnx.eval_shape(apply, model, x, graph=False), jax.Array)
    assert_type(nnx.eval_shape(apply, model, x, graph_updates=False), jax.Array)
    nnx.eval_shape(apply, model)  # E
    nnx.eval_shape(apply, 3, x)  # E
    nnx.eval_shape(apply, model, x, to=2)  # E
    nnx.eval_shape(MLP, 4)  # E
    nnx.eval_shape(3)  # E


def shapes_in_any_place(s: jax.ShapeDtypeStruct, x: jax.Array) -> None:
    """A shape is seen among the first six arguments."""

    def six(*arrays: jax.Array) -> int:
        return len(arrays)

    assert_type(nnx.eval_shape(six, s), int)
    assert_type(nnx.eval_shape(six, x, s), int)
    assert_type(nnx.eval_shape(six, x, x, s), int)
    assert_type(nnx.eval_shape(six, x, x, x, s), int)
    assert_type(nnx.eval_shape(six, x, x, x, x, s), int)
    assert_type(nnx.eval_shape(six, x, x, x, x, x, s), int)
    nnx.eval_shape(six, x, x, x, x, x, "x")  # E


def make_jaxpr(model: MLP, x: jax.Array, shape: jax.ShapeDtypeStruct, checked: Checked) -> None:
    """The program of a function."""
    assert_type(nnx.make_jaxpr(apply)(model, x), ClosedJaxpr)
    assert_type(nnx.make_jaxpr(static_argnums=())(apply)(model, shape, top=2), ClosedJaxpr)
    assert_type(checked.program(x), ClosedJaxpr)
    nnx.make_jaxpr(apply)(model)  # E
    nnx.make_jaxpr(apply)(model, 3)  # E
    nnx.make_jaxpr(apply, static_argnums="x")  # E
    checked.program()  # E


def checkify(model: MLP, x: jax.Array, checked: Checked) -> None:
    """The error and the result."""
    assert_type(nnx.checkify(apply)(model, x, top=2), tuple[Error, jax.Array])
    assert_type(nnx.checkify(apply, errors=float_checks)(model, x), tuple[Error, jax.Array])
    assert_type(nnx.jit(nnx.checkify(apply))(model, x), tuple[Error, jax.Array])
    assert_type(checked.safe(x), tuple[Error, jax.Array])
    nnx.checkify(apply)(model)  # E: [call-arg|reportCallIssue]
    nnx.checkify(apply)(model, "x")  # E: [arg-type|reportArgumentType]
    nnx.checkify(apply, errors=3)  # E
    checked.safe(x, x)  # E


def of_unknown_types(anything: Any, model: MLP) -> None:
    """What is not typed gives no error."""
    nnx.eval_shape(anything, model, anything)
    nnx.make_jaxpr(anything)(model)
    nnx.checkify(anything)(model)
