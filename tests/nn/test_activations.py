"""Activations are jax's own functions, as in flax; PReLU against flax, bit for bit."""

from __future__ import annotations

from typing import Any

import flax.nnx
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.nn.twins import Twins

FUNCTIONS = sorted(
    name
    for name in dir(flax.nnx.nn.activations)
    if getattr(getattr(flax.nnx, name, None), "__module__", "").startswith("jax")
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_activations_are_the_same_functions_as_in_flax(name: str) -> None:
    assert getattr(nnx, name) is getattr(flax.nnx, name)
    assert getattr(nnx.nn.activations, name) is getattr(flax.nnx, name)


def test_there_are_all_the_activations() -> None:
    assert len(FUNCTIONS) > 20


@pytest.mark.parametrize("dtype", [None, jnp.float16], ids=["of the input", "f16"])
@pytest.mark.parametrize("param_dtype", [jnp.float32, jnp.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("of_input", [jnp.float32, jnp.bfloat16, jnp.int32], ids=str)
def test_prelu_is_the_twin_of_flax(dtype: Any, param_dtype: Any, of_input: Any) -> None:
    twins = Twins(
        lambda lib, rngs: lib.PReLU(
            0.3, dtype=dtype, param_dtype=param_dtype, negative_slope_metadata={"note": 1}
        )
    )
    twins.assert_made_alike()
    x = jnp.array([[-2, 0, 3]], of_input)
    twins.assert_same_call(x)
    twins.assert_same_jitted_call(x)
    if of_input != jnp.int32:
        twins.assert_same_gradients(x)


@both
def test_the_slope_of_prelu_is_learned(lib: Any) -> None:
    layer = lib.PReLU(0.5)
    gradient = lib.grad(lambda layer: layer(jnp.array([-3.0, 5.0])).sum())(layer)
    assert gradient["negative_slope"][...] == -3.0
