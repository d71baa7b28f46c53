"""Conv against flax: equal programs (so equal bits) over generated configurations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.array_twins import ArrayTwins
from tests.nn.twins import LIBRARIES, assert_refused_alike, assert_same_bits, fresh_rngs
from typed_nnx import errors
from typed_nnx.nn.linear import canonicalize_padding

DTYPES = (None, jnp.float32, jnp.bfloat16, jnp.float16)
quick = settings(max_examples=12, deadline=None)
thorough = settings(max_examples=300, deadline=None)


def an_input(shape: Any, dtype: Any = None) -> jax.Array:
    # Not of jax.random: it would be compiled for each shape.
    return jnp.asarray(np.random.RandomState(7).randn(*shape), dtype or jnp.float32)


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
        options["mask"] = an_input((*kernel, ins // groups, out)).astype(of_mask)
    batch = draw(st.sampled_from([(2,), (), (2, 3)]))
    shape = (*batch, *[7, 6, 5][:rank], ins)
    return options, an_input(shape, draw(st.sampled_from(DTYPES)))


def check_conv(configuration: tuple[dict[str, Any], jax.Array]) -> None:
    options, x = configuration
    twins = ArrayTwins(lambda lib, rngs: lib.Conv(**options, rngs=rngs))
    twins.assert_made_alike()
    twins.assert_same_program(x)
    # jax has no gradient where the accumulator is wider than the operands.
    if options["preferred_element_type"] is None:
        twins.assert_same_gradients(x)


@pytest.mark.thorough
@quick
@given(configurations())
def test_conv_is_the_twin_of_flax(configuration: Any) -> None:
    check_conv(configuration)


@pytest.mark.slow
@thorough
@given(configurations())
def test_conv_is_the_twin_of_flax_in_many_configurations(configuration: Any) -> None:
    check_conv(configuration)


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


def of_scanned_layers(lib: Any) -> list[Any]:
    """Return loss and gradients of three layers, made under vmap and called under scan."""
    layers = lib.vmap(lambda rngs: lib.Conv(2, 2, (3,), rngs=rngs))(fresh_rngs(lib).split(3))
    scanned = lib.scan(
        lambda x, layer: jnp.tanh(layer(x)), in_axes=(lib.Carry, 0), out_axes=lib.Carry
    )
    loss = lib.value_and_grad(lambda layers, x: scanned(x, layers).sum())
    return jax.tree.leaves(lib.jit(loss)(layers, an_input((2, 5, 2))))


@pytest.mark.thorough
def test_conv_works_in_vmap_scan_and_grad() -> None:
    results = [of_scanned_layers(lib) for lib in LIBRARIES]
    for mine, other in zip(*results, strict=True):
        assert_same_bits(mine, other)


@pytest.mark.parametrize("name", ["Conv", "ConvTranspose"])
def test_a_call_reads_the_attributes_of_any_object(name: str) -> None:
    def called(lib: Any) -> jax.Array:
        cls = getattr(lib, name)
        layer = cls(2, 3, (3,), rngs=fresh_rngs(lib))
        public = {key: value for key, value in vars(layer).items() if not key.startswith("_")}
        # A subclass with kernels of its own calls the layer in this way.
        return cls.__call__(SimpleNamespace(**public), an_input((2, 5, 2)))

    assert_same_bits(*map(called, LIBRARIES))


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


def test_conv_refuses_an_unknown_name_of_a_padding_when_it_is_made() -> None:
    with pytest.raises(errors.LayerArgumentError, match="padding='CIRCULAR'"):
        nnx.Conv(2, 4, (3,), padding="circular", rngs=nnx.Rngs(0))
