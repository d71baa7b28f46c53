"""`promote_dtype` and `canonicalize_dtype` against flax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.libraries import seen
from tests.nn.twins import LIBRARIES, Make, Twins, normal

VALUES: list[Any] = [
    None,
    2,
    1.5,
    True,
    1 + 2j,
    np.float64(3.0),
    np.arange(2, dtype=np.int64),
    *[jnp.ones(2, dtype) for dtype in ("float32", "bfloat16", "float16", "int32", "uint8", "bool")],
]
REQUESTED = [None, jnp.float32, jnp.bfloat16, "float16", np.dtype("float32"), jnp.int32, bool]


@pytest.mark.thorough
@pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, len(VALUES) - 1), max_size=3), st.sampled_from(REQUESTED), st.booleans()
)
def test_arrays_get_the_dtype_that_flax_gives_them(
    x64: bool, which: list[int], dtype: Any, inexact: bool
) -> None:
    args = tuple(VALUES[number] for number in which)
    with jax.enable_x64(x64):
        ours, theirs = (
            seen(lambda lib=lib: lib.nn.dtypes.promote_dtype(args, dtype=dtype, inexact=inexact))
            for lib in LIBRARIES
        )
        assert ours == theirs
        ours, theirs = (
            seen(
                lambda lib=lib: jnp.dtype(
                    lib.nn.dtypes.canonicalize_dtype(*args, dtype=dtype, inexact=inexact)
                )
            )
            for lib in LIBRARIES
        )
        assert ours == theirs


def test_a_list_becomes_a_tuple_as_in_flax() -> None:
    for lib in LIBRARIES:
        assert type(lib.nn.dtypes.promote_dtype([jnp.ones(2), None])) is tuple


LAYERS: dict[str, Make] = {
    "Linear": lambda lib, rngs: lib.Linear(3, 4, param_dtype=jnp.float64, rngs=rngs),
    "Conv": lambda lib, rngs: lib.Conv(3, 2, (2,), padding="CIRCULAR", rngs=rngs),
    "ConvTranspose": lambda lib, rngs: lib.ConvTranspose(
        3, 2, (2,), 2, padding="CIRCULAR", rngs=rngs
    ),
    "LayerNorm": lambda lib, rngs: lib.LayerNorm(3, rngs=rngs),
    "GroupNorm": lambda lib, rngs: lib.GroupNorm(
        3, num_groups=3, param_dtype=jnp.float64, rngs=rngs
    ),
    "InstanceNorm": lambda lib, rngs: lib.InstanceNorm(3, rngs=rngs),
    "WeightNorm": lambda lib, rngs: lib.WeightNorm(lib.Linear(3, 2, rngs=rngs), rngs=rngs),
    "SpectralNorm": lambda lib, rngs: lib.SpectralNorm(lib.Linear(3, 2, rngs=rngs), rngs=rngs),
    "MultiHeadAttention": lambda lib, rngs: lib.MultiHeadAttention(
        1, 3, decode=False, dropout_rate=0.5, deterministic=False, rngs=rngs
    ),
    **{
        name: lambda lib, rngs, name=name: lib.RNN(  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            getattr(lib, name)(3, 4, dtype=jnp.float64, param_dtype=jnp.float64, rngs=rngs)
        )
        for name in ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell")
    },
}


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_layers_are_the_twins_of_flax_in_64_bits(make: Make, dtype: str) -> None:
    with jax.enable_x64(True):
        twins = Twins(make)
        twins.assert_made_alike()
        twins.assert_same_program(normal(4, 2, 3, dtype=dtype))
