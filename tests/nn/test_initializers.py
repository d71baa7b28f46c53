"""Initializers give the bits that flax's give."""

from __future__ import annotations

from typing import Any

import flax.nnx
import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

NAMES = [
    name
    for name in dir(flax.nnx.initializers)
    if callable(getattr(flax.nnx.initializers, name))
    and name not in ("DtypeLikeInexact", "Initializer")
]
PLAIN = ("ones", "zeros")
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "constant": (0.5,),
    "variance_scaling": (2.0, "fan_avg", "truncated_normal"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["f32", "bf16"])
def test_an_initializer_gives_the_bits_of_flax(name: str, dtype: Any) -> None:
    shape = (3, 3, 2, 5) if name == "delta_orthogonal" else (6, 5)
    if name == "delta_orthogonal" or (name == "orthogonal" and dtype == jnp.bfloat16):
        dtype = jnp.float32  # jax decomposes no matrix in bfloat16
    found = []
    for lib in (nnx, flax.nnx):
        made: Any = getattr(lib.initializers, name)
        initializer = made if name in PLAIN else made(*ARGUMENTS.get(name, ()))
        found.append(initializer(jax.random.key(3), shape, dtype))
    assert found[0].dtype == found[1].dtype
    assert found[0].tobytes() == found[1].tobytes()


def test_all_initializers_are_there() -> None:
    assert len(NAMES) > 20
    assert nnx.Initializer is not None
