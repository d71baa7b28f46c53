"""ConvTranspose against flax: equal programs (so equal bits) over generated configurations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.test_conv import numbers, quick
from tests.nn.twins import DTYPES, Twins, assert_refused_alike, normal
from typed_nnx import errors


@st.composite
def configurations(draw: Any) -> tuple[dict[str, Any], jax.Array]:
    rank = draw(st.integers(1, 3))
    kernel = draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    ins, out, transposed = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.booleans())
    side = st.integers(0, 2)
    options = {
        "in_features": ins,
        "out_features": out,
        "kernel_size": kernel,
        "strides": numbers(draw, rank, 3),
        "padding": draw(
            st.one_of(
                st.sampled_from(["SAME", "VALID", "CIRCULAR"]),
                side,
                st.tuples(*[st.tuples(side, side)] * rank),
            )
        ),
        "kernel_dilation": numbers(draw, rank, 2),
        "transpose_kernel": transposed,
        "use_bias": draw(st.booleans()),
        "dtype": draw(st.sampled_from(DTYPES)),
        "param_dtype": draw(st.sampled_from(DTYPES[1:])),
        "preferred_element_type": draw(st.sampled_from([None, jnp.float32])),
        "bias_metadata": draw(st.sampled_from([{}, {"note": "b"}])),
    }
    if draw(st.booleans()):
        ends = (out, ins) if transposed else (ins, out)
        options["mask"] = normal(*kernel, *ends) > 0
    batch = draw(st.sampled_from([(2,), (), (2, 3)]))
    return options, normal(*batch, *[5, 4, 3][:rank], ins, dtype=draw(st.sampled_from(DTYPES)))


@pytest.mark.thorough
@quick
@given(configurations())
def test_conv_transpose_is_the_twin_of_flax(configuration: Any) -> None:
    options, x = configuration
    twins = Twins(lambda lib, rngs: lib.ConvTranspose(**options, rngs=rngs))
    twins.assert_made_alike()
    twins.assert_same_program(x)
    if options["preferred_element_type"] is None:
        twins.assert_same_gradients(x)


def test_with_transpose_kernel_it_is_the_transpose_of_conv() -> None:
    conv = nnx.Conv(2, 3, (3,), strides=2, padding="SAME", use_bias=False, rngs=nnx.Rngs(0))
    back = nnx.ConvTranspose(
        3, 2, (3,), strides=2, transpose_kernel=True, use_bias=False, rngs=nnx.Rngs(1)
    )
    back.kernel[...] = conv.kernel[...]
    x, y = normal(1, 8, 2), normal(1, 4, 3)
    # <conv x, y> = <x, back y>
    np.testing.assert_allclose((conv(x) * y).sum(), (x * back(y)).sum(), rtol=1e-5)


@pytest.mark.parametrize("strides", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
def test_a_circular_one_commutes_with_rotation(strides: int, transposed: bool) -> None:
    layer = nnx.ConvTranspose(
        1, 1, 5, strides, padding="CIRCULAR", transpose_kernel=transposed, rngs=nnx.Rngs(0)
    )
    x = normal(6, 1)
    rotated = jnp.roll(layer(x), strides, axis=0)
    np.testing.assert_allclose(layer(jnp.roll(x, 1, axis=0)), rotated, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((2, 5, 5, 3), {}),
        ((2, 5, 5, 2), {"padding": (1,)}),
        ((2, 5, 5, 2), {"padding": "REFLECT", "strides": 2}),
        ((2, 5, 5, 2), {"padding": "SAME_LOWER", "strides": 2}),
        ((2, 5, 5, 2), {"mask": jnp.ones((3, 3))}),
        ((2, 5, 5, 2), {"rngs": 3}),
    ],
    ids=lambda v: str(v)[:40],
)
def test_conv_transpose_refuses_what_flax_refuses(shape: Any, options: Any) -> None:
    def make(lib: Any, rngs: Any) -> Any:
        return lib.ConvTranspose(2, 4, (3, 3), **{"rngs": rngs, **options})

    assert_refused_alike(make, jnp.ones(shape))


@pytest.mark.parametrize("argument", ["strides", "kernel_dilation"])
def test_it_names_the_argument_that_does_not_fit_the_kernel(argument: str) -> None:
    with pytest.raises(errors.LayerArgumentError, match=f"argument `{argument}` is .2,."):
        nnx.ConvTranspose(2, 4, (3, 3), **{argument: (2,)}, rngs=nnx.Rngs(0))  # type: ignore[arg-type]  # mypy does not follow the names
