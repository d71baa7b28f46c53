"""The text of the error for a write to an object that a jax transform captured.

Every way to write under every transform is in `tests/core/test_variable_trace_level.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.errors.case import Bag, assign
from tests.errors.snapshot import snapshot
from typed_nnx.errors import TraceLevelError

X = jnp.arange(3.0)

Body = Callable[[jax.Array], jax.Array]

TRANSFORMS: dict[str, Callable[[Body], object]] = {
    "jit": lambda body: jax.jit(body)(X),
    "vmap": lambda body: jax.vmap(body)(X),
    "grad": lambda body: jax.grad(lambda x: body(x).sum())(X),
    "scan": lambda body: jax.lax.scan(lambda c, x: (c, body(x)), 0, X),
    "remat": lambda body: jax.checkpoint(body)(X),
    "eval_shape": lambda body: jax.eval_shape(body, X),
}


def model() -> Bag:
    """Return a model with a Variable, a List and a static attribute below the root."""
    layer = Bag(
        w=nnx.Param(jnp.ones(3), tag="a"), parts=nnx.List([nnx.Param(jnp.ones(3))]), rate=0.5
    )
    return Bag(layer=layer)


def write_all(m: Any) -> None:
    m.layer.w[...] = jnp.zeros(3)


WRITES: dict[str, tuple[Callable[[Any], object], tuple[str, ...]]] = {
    "the value of a Variable": (write_all, ("Param from a different trace level", "Bag.layer.w")),
    "an attribute": (
        lambda m: assign(m.layer, "rate", 0.1),
        ("'Bag' from different trace level", "attribute 'rate'", "Bag.layer"),
    ),
    "a List": (
        lambda m: m.layer.parts.append(nnx.Param(1)),
        ("'List' from different trace level", "Bag.layer.parts"),
    ),
    "update": (
        lambda m: nnx.update(m, {"layer": {"w": nnx.Param(jnp.zeros(3))}}),
        ("Param from a different trace level", "Bag.layer.w"),
    ),
    "pop": (
        lambda m: nnx.pop(m, nnx.PathContains("w")),
        ("'Bag' from different trace level", "attribute 'w'", "Bag.layer"),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_write_inside_a_transform_is_refused_with_the_path(transform: str, write: str) -> None:
    captured = model()
    change, says = WRITES[write]
    before = snapshot(captured)

    def body(x: jax.Array) -> jax.Array:
        change(captured)
        return x

    with pytest.raises(TraceLevelError) as error:
        TRANSFORMS[transform](body)
    for part in (*says, "inside a jax transform", "Fix: pass the object"):
        assert part in str(error.value)
    assert snapshot(captured) == before


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_an_object_made_inside_a_transform_may_be_written_there(transform: str) -> None:
    def body(x: jax.Array) -> jax.Array:
        inner: Any = model()
        for change, _ in WRITES.values():
            change(inner)
            inner = model()
        inner.layer.w[...] = x * 2
        return x

    TRANSFORMS[transform](body)
