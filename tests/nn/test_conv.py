"""Conv against flax: equal programs (so equal bits) over generated configurations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.twins import DTYPES, LIBRARIES, Twins, assert_refused_alike, fresh_rngs, normal
from tests.support.examples import few_or
from typed_nnx import errors
from typed_nnx.nn.linear import canonicalize_padding

quick = settings(max_examples=few_or(12, 300), deadline=None)


def numbers(draw: Any, rank: int, largest: int) -> Any:
    """One number, None, or a number for each axis."""
    each = st.integers(1, largest)
    return draw(st.one_of(st.none(), each, st.lists(each, min_size=rank, max_size=rank)))


def paddings(rank: int) -> st.SearchStrategy[Any]:
    side = st.integers(0, 2)
    pair = st.tuples(side, side)
    names = ["SAME", "VALID", "CIRCULAR", "REFLECT", "SAME_LOWER", "same"]
    return st.one_of(
        st.sampled_from([*names, "CAUSAL"] if rank == 1 else names),
        side,
        st.lists(st.one_of(side, pair), min_size=rank, max_size=rank),
        st.tuples(*[pair] * rank),
    )


@st.composite
def configurations(draw: Any) -> tuple[dict[str, Any], jax.Array]:
    rank, groups = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    kernel = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    ins, out = groups * draw(st.integers(1, 2)), groups * draw(st.integers(1, 2))
    dtype, param_dtype = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(DTYPES[1:]))
    options = {
        "in_features": ins,
        "out_features": out,
        "kernel_size": kernel[0] if rank == 1 and draw(st.booleans()) else kernel,
        "strides": numbers(draw, rank, 3),
        "padding": draw(paddings(rank)),
        "kernel_dilation": numbers(draw, rank, 2),
        "feature_group_count": groups,
        "use_bias": draw(st.booleans()),
        "dtype": dtype,
        "param_dtype": param_dtype,
        "precision": draw(st.sampled_from([None, "high"])),
        "preferred_element_type": draw(st.sampled_from([None, jnp.float32])),
        "kernel_metadata": draw(st.sampled_from([{}, {"note": "k"}])),
    }
    if not isinstance(options["padding"], str):
        options["input_dilation"] = numbers(draw, rank, 2)
    if draw(st.booleans()):
        of_mask = draw(st.sampled_from([jnp.float32, jnp.int32, jnp.bool_]))
        options["mask"] = normal(*kernel, ins // groups, out).astype(of_mask)
    batch = draw(st.sampled_from([(2,), (), (2, 3)]))
    shape = (*batch, *[7, 6, 5][:rank], ins)
    return options, normal(*shape, dtype=draw(st.sampled_from(DTYPES)))


@pytest.mark.thorough
@quick
@given(configurations())
def test_conv_is_the_twin_of_flax(configuration: Any) -> None:
    options, x = configuration
    twins = Twins(lambda lib, rngs: lib.Conv(**options, rngs=rngs))
    twins.assert_made_alike()
    twins.assert_same_program(x)
    # jax has no gradient where the accumulator is wider than the operands.
    if options["preferred_element_type"] is None:
        twins.assert_same_gradients(x)


@pytest.mark.parametrize(("padding", "mode"), [("CIRCULAR", "wrap"), ("REFLECT", "symmetric-less")])
def test_conv_is_the_sum_over_the_padded_window(padding: str, mode: str) -> None:
    layer = nnx.Conv(1, 1, 3, padding=padding, use_bias=False, rngs=nnx.Rngs(0))
    x = [1.0, 2.0, 4.0, 8.0]
    around = [8.0, *x, 1.0] if mode == "wrap" else [2.0, *x, 4.0]
    kernel = np.asarray(layer.kernel[...]).ravel()
    expected = [float(np.dot(around[i : i + 3], kernel)) for i in range(4)]
    np.testing.assert_allclose(layer(jnp.array(x)[:, None]).ravel(), expected, rtol=1e-6)


def test_a_causal_conv_never_looks_ahead() -> None:
    layer = nnx.Conv(1, 1, 3, padding="CAUSAL", kernel_dilation=2, rngs=nnx.Rngs(0))
    x = jnp.arange(8.0)[:, None]
    influence = jax.jacobian(lambda x: layer(x)[:, 0])(x)[..., 0]
    assert (np.triu(np.asarray(influence), 1) == 0).all()
    assert (np.diag(np.asarray(influence)) != 0).all()


@pytest.mark.thorough
def test_a_replacement_of_the_convolution_is_called_as_in_flax() -> None:
    seen: list[Any] = []

    def record(*args: Any, **kwargs: Any) -> Any:
        shapes = [getattr(arg, "shape", arg) for arg in args]
        seen.append((shapes, kwargs))
        return jnp.ones((2, 5, 5, 4))

    for lib in LIBRARIES:
        for options in (
            {},
            {"padding": "CIRCULAR", "strides": 2},
            {"padding": "of my own", "preferred_element_type": jnp.float32},
            {"padding": (1, (2, 3)), "kernel_dilation": (1, 2), "input_dilation": 2},
        ):
            layer = lib.Conv(
                2, 4, (3, 3), conv_general_dilated=record, rngs=fresh_rngs(lib), **options
            )
            layer(jnp.ones((2, 5, 5, 2)))
    assert seen[:4] == seen[4:]


@pytest.mark.parametrize(
    ("padding", "rank"),
    [("SAME", 2), (1, 2), ((1, 2), 2), ([1, (2, 3)], 2), (((1, 2), (3, 4)), 2), (-1, 1), ((3,), 1)],
    ids=str,
)
def test_canonicalize_padding_is_that_of_flax(padding: Any, rank: int) -> None:
    from flax.nnx.nn.linear import canonicalize_padding as theirs

    assert canonicalize_padding(padding, rank) == theirs(padding, rank)


@pytest.mark.parametrize(
    "padding", [(1,), (1, 2, 3), 1.5, None, (1.5, 2), [[1, 2], [3, 4]], ()], ids=str
)
def test_canonicalize_padding_refuses_what_flax_refuses(padding: Any) -> None:
    from flax.nnx.nn.linear import canonicalize_padding as theirs

    with pytest.raises(ValueError, match=r".*"):
        theirs(padding, 2)
    with pytest.raises(errors.LayerArgumentError, match="argument `padding` is"):
        canonicalize_padding(padding, 2)


BAD: list[tuple[Any, dict[str, Any]]] = [
    ((2, 5, 5, 3), {}),
    ((5, 2), {}),
    ((2, 5, 5, 2), {"strides": (1, 2, 3)}),
    ((2, 5, 5, 2), {"strides": (2,)}),
    ((2, 5, 5, 2), {"padding": (1,)}),
    ((2, 5, 5, 2), {"padding": "CAUSAL"}),
    ((2, 5, 5, 2), {"padding": "SAME", "input_dilation": 2}),
    ((2, 5, 5, 2), {"padding": "CIRCULAR", "input_dilation": 2}),
    ((2, 5, 5, 2), {"mask": jnp.ones((3, 3, 1, 1))}),
    ((2, 5, 5, 2), {"feature_group_count": 2, "out_features": 5}),
    ((2, 5, 5, 2), {"rngs": None}),
]


@pytest.mark.parametrize(("shape", "options"), BAD, ids=lambda v: str(v)[:40])
def test_conv_refuses_what_flax_refuses(shape: Any, options: Any) -> None:
    def make(lib: Any, rngs: Any) -> Any:
        return lib.Conv(
            **{"in_features": 2, "out_features": 4, "kernel_size": (3, 3), "rngs": rngs, **options}
        )

    assert_refused_alike(make, jnp.ones(shape))
