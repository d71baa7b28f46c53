"""Pooling against flax, bit for bit, and against the loop that it stands for."""

from __future__ import annotations

from typing import Any

import flax.nnx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

import typed_nnx as nnx
from tests.nn.test_conv import quick
from tests.nn.twins import assert_same_bits, normal
from typed_nnx import errors

FUNCTIONS = ("avg_pool", "max_pool", "min_pool")


@st.composite
def configurations(draw: Any) -> tuple[str, dict[str, Any], jax.Array]:
    rank = draw(st.integers(1, 3))
    window = tuple(draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank)))
    pads = st.tuples(*[st.tuples(*[st.integers(0, size - 1)] * 2) for size in window])
    options: dict[str, Any] = {
        "window_shape": window,
        "strides": draw(st.one_of(st.none(), st.tuples(*[st.integers(1, 3)] * rank))),
        "padding": draw(st.one_of(st.sampled_from(["SAME", "VALID", "same"]), pads)),
    }
    function = draw(st.sampled_from(FUNCTIONS))
    batch = draw(st.sampled_from([(2,), (), (2, 2)]))
    # flax takes numbers, and counts what is there, with one batch axis at most.
    if len(batch) > 1:
        options["padding"] = "SAME"
    if function == "avg_pool":
        options["count_include_pad"] = len(batch) > 1 or draw(st.booleans())
    dtype = draw(st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16, jnp.int32, jnp.int8]))
    return function, options, (normal(*batch, *[6, 5, 4][:rank], 2) * 9).astype(dtype)


@pytest.mark.thorough
@quick
@given(configurations())
def test_pooling_is_the_twin_of_flax(configuration: Any) -> None:
    function, options, x = configuration
    programs, gradients = [], []
    for lib in (nnx, flax.nnx):
        pooled: Any = getattr(lib, function)
        programs.append(str(jax.make_jaxpr(lambda x, pooled=pooled: pooled(x, **options))(x)))
        if jnp.issubdtype(x.dtype, jnp.inexact):
            total = lambda x, pooled=pooled: pooled(x, **options).astype(jnp.float32).sum()  # noqa: E731
            gradients.append(str(jax.make_jaxpr(jax.grad(total))(x)))
    assert programs[0] == programs[1]
    assert gradients[:1] == gradients[1:]


def test_without_the_padding_the_mean_is_over_what_is_there() -> None:
    x = jnp.array([2.0, 4.0, 6.0])[:, None]
    for shape in ((3, 1), (1, 3, 1), (1, 1, 3, 1)):
        pooled = nnx.avg_pool(x.reshape(shape), (2,), padding=((1, 0),), count_include_pad=False)
        assert pooled.shape == shape
        assert pooled.ravel().tolist() == [2.0, 3.0, 5.0]


def test_pool_folds_each_window_with_a_function_of_the_user() -> None:
    x = normal(5, 4, 1)
    pooled = nnx.pool(x, 1.0, lax.mul, (2, 2), (2, 1), "VALID")
    expected = [[np.prod(x[i : i + 2, j : j + 2]) for j in range(3)] for i in (0, 2)]
    np.testing.assert_allclose(pooled[..., 0], expected, rtol=1e-6)
    assert_same_bits(pooled, flax.nnx.pool(x, 1.0, lax.mul, (2, 2), (2, 1), "VALID"))


def test_pooling_works_in_jit_vmap_and_grad() -> None:
    x = normal(3, 4, 4, 2)
    each = jnp.stack([nnx.max_pool(one, (2, 2)) for one in x])
    assert_same_bits(nnx.jit(nnx.max_pool, static_argnums=1)(x, (2, 2)), each)
    assert_same_bits(nnx.vmap(lambda one: nnx.max_pool(one, (2, 2)))(x), each)
    # Each window passes its gradient to its largest element.
    gradient = nnx.grad(lambda x: nnx.max_pool(x, (2, 2), (2, 2)).sum())(x)
    assert gradient.sum() == 3 * 2 * 2 * 2
    assert set(gradient.ravel().tolist()) == {0.0, 1.0}


BAD: list[tuple[Any, Any, str]] = [
    ((2, 2), {"strides": (2,)}, "strides"),
    ((2, 2), {"strides": 2}, "strides"),
    ((2, 2), {"padding": ((1, 0),)}, "padding"),
    ((2, 2), {"padding": 1}, "padding"),
    ((2, 2), {"padding": (1, 1)}, "padding"),
    ((2, 2), {"padding": "CIRCULAR"}, "padding"),
    (2, {}, "window_shape"),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("window", "options", "argument"), BAD, ids=str)
def test_pooling_names_the_argument_that_does_not_fit(
    function: str, window: Any, options: Any, argument: str
) -> None:
    x = jnp.ones((1, 4, 4, 1))
    with pytest.raises((TypeError, ValueError, AssertionError, RuntimeError), match=r".*"):
        getattr(flax.nnx, function)(x, window, **options)
    with pytest.raises(errors.LayerArgumentError, match=f"{function}: argument `{argument}`"):
        getattr(nnx, function)(x, window, **options)


def test_pooling_refuses_inputs_without_features() -> None:
    with pytest.raises(errors.LayerInputError, match="max_pool: `inputs` is float32.4,4."):
        nnx.max_pool(jnp.ones((4, 4)), (2, 2))
