"""LoRA and LoRALinear against flax, bit for bit, and what fine-tuning relies on."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.core.libraries import both
from tests.nn.twins import DTYPES, Twins, assert_refused_alike

sizes = st.integers(1, 5)


@pytest.mark.thorough
@settings(max_examples=12, deadline=None)
@given(sizes, sizes, sizes, st.sampled_from(DTYPES), st.sampled_from(DTYPES[1:]), st.booleans())
def test_lora_is_the_twin_of_flax(
    ins: int, rank: int, out: int, dtype: Any, param_dtype: Any, has_base: bool
) -> None:
    def make(lib: Any, rngs: Any) -> Any:
        base = lib.Linear(ins, out, rngs=rngs) if has_base else None
        return lib.LoRA(
            ins,
            rank,
            out,
            base_module=base,
            dtype=dtype,
            param_dtype=param_dtype,
            b_initializer=lib.initializers.lecun_normal(),
            a_metadata={"note": 1},
            rngs=rngs,
        )

    twins = Twins(make)
    twins.assert_made_alike()
    twins.assert_same_call(jnp.ones((3, ins)))


@pytest.mark.thorough
@settings(max_examples=12, deadline=None)
@given(sizes, sizes, sizes, st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.booleans())
def test_lora_linear_is_the_twin_of_flax(
    ins: int, rank: int, out: int, dtype: Any, lora_dtype: Any, use_bias: bool
) -> None:
    twins = Twins(
        lambda lib, rngs: lib.LoRALinear(
            ins,
            out,
            lora_rank=rank,
            dtype=dtype,
            lora_dtype=lora_dtype,
            use_bias=use_bias,
            b_metadata={"note": 2},
            rngs=rngs,
        )
    )
    twins.assert_made_alike()
    twins.assert_same_call(jnp.ones((3, ins)))
    twins.assert_same_gradients(jnp.ones((3, ins)))


@both
def test_training_starts_from_what_the_base_gives(lib: Any) -> None:
    base = lib.Linear(3, 4, rngs=lib.Rngs(0))
    x = jnp.arange(6.0).reshape(2, 3)
    adapter = lib.LoRA(3, 2, 4, base_module=base, rngs=lib.Rngs(1))
    assert (adapter(x) == base(x)).all()
    adapter.lora_b[...] = jnp.ones((2, 4))
    expected = base(x) + x @ adapter.lora_a[...] @ jnp.ones((2, 4))
    assert jnp.allclose(adapter(x), expected)


def test_a_base_that_cannot_be_called_is_refused() -> None:
    assert_refused_alike(
        lambda lib, rngs: lib.LoRA(3, 2, 4, base_module=lib.Dict(a=1), rngs=rngs), jnp.ones((2, 3))
    )


def test_the_type_of_the_variables_is_the_users_choice() -> None:
    class Adapter(nnx.Variable[Any]):
        pass

    layer = nnx.LoRALinear(3, 4, lora_rank=2, lora_param_type=Adapter, rngs=nnx.Rngs(0))
    assert nnx.state(layer, Adapter).keys() == {"lora"}
    assert nnx.state(layer, nnx.LoRAParam) == {}
