"""SpectralNorm and WeightNorm against flax: what they do to the layer that they hold."""

from __future__ import annotations

from typing import Any

import flax.nnx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.nn.twins import Twins, assert_refused_alike, normal
from typed_nnx import errors

X = (2, 4, 4, 3)

LAYERS: dict[str, Any] = {
    "linear": lambda lib, rngs: lib.Linear(3, 4, rngs=rngs),
    "conv": lambda lib, rngs: lib.Conv(3, 4, (2, 2), rngs=rngs),
    "nested": lambda lib, rngs: lib.Sequential(
        lib.Linear(3, 4, rngs=rngs), lib.LayerNorm(4, rngs=rngs), lib.Linear(4, 2, rngs=rngs)
    ),
}
each_layer = pytest.mark.parametrize("layer", LAYERS)


def wrapped(norm: str, layer: str, **options: Any) -> Twins:
    return Twins(
        lambda lib, rngs: getattr(lib, norm)(LAYERS[layer](lib, rngs), rngs=rngs, **options)
    )


@each_layer
@pytest.mark.parametrize(
    "options",
    [{}, {"n_steps": 3}, {"n_steps": 0}, {"update_stats": False}, {"epsilon": 0.1}],
    ids=str,
)
def test_spectral_norm_is_the_twin_of_flax(layer: str, options: Any) -> None:
    twins = wrapped("SpectralNorm", layer, **options)
    twins.assert_made_alike()
    for call in ({}, {"update_stats": False}, {"update_stats": True}):
        twins.assert_same_program(normal(*X), **call)
    twins.assert_same_gradients(normal(*X))


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16], ids=lambda dtype: dtype.__name__)
@pytest.mark.filterwarnings("ignore:scatter inputs:FutureWarning")  # flax casts by a scatter
def test_spectral_norm_rounds_as_flax_does(dtype: Any) -> None:
    for options in ({"dtype": dtype}, {"param_dtype": dtype}):
        twins = wrapped("SpectralNorm", "linear", **options)
        mine, other = (layer(normal(*X)) for layer in twins.both)
        np.testing.assert_array_equal(mine, other)
        twins.assert_states_equal()


def test_spectral_norm_finds_the_largest_singular_value() -> None:
    layer = nnx.SpectralNorm(nnx.Linear(3, 4, rngs=nnx.Rngs(0)), n_steps=50, rngs=nnx.Rngs(1))
    largest = jnp.linalg.norm(layer.layer_instance.kernel[...], 2)  # type: ignore[attr-defined]  # it is a Linear
    layer(jnp.ones((1, 3)))
    np.testing.assert_allclose(layer.batch_stats[("kernel", "sigma")][...], largest, rtol=1e-4)


def test_eval_keeps_the_vectors_of_spectral_norm() -> None:
    twins = wrapped("SpectralNorm", "linear")
    for layer in twins.both:
        layer.eval()
        before = layer.batch_stats[("kernel", "u")][...]
        layer(normal(*X))
        np.testing.assert_array_equal(before, layer.batch_stats[("kernel", "u")][...])
    twins.assert_states_equal()


@pytest.mark.thorough
def test_spectral_norm_refuses_a_kernel_that_is_no_matrix_if_told_to() -> None:
    make = lambda lib, rngs: lib.SpectralNorm(  # noqa: E731
        LAYERS["conv"](lib, rngs), error_on_non_matrix=True, rngs=rngs
    )
    assert_refused_alike(make, normal(*X))


@each_layer
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_scale": False},
        {"feature_axes": None},
        {"feature_axes": (-1, -2)},
        {"dtype": jnp.bfloat16},
        {"param_dtype": jnp.bfloat16},
        {"epsilon": 0.1},
        {"scale_init": jax.nn.initializers.constant(2.0)},
    ],
    ids=lambda options: ",".join(options) or "plain",
)
def test_weight_norm_is_the_twin_of_flax(layer: str, options: Any) -> None:
    twins = wrapped("WeightNorm", layer, **options)
    twins.assert_made_alike()
    twins.assert_same_program(normal(*X))
    twins.assert_same_gradients(normal(*X))


def test_weight_norm_takes_a_filter_for_its_kernels() -> None:
    twins = Twins(
        lambda lib, rngs: lib.WeightNorm(
            LAYERS["linear"](lib, rngs), variable_filter=lib.Param, rngs=rngs
        )
    )
    twins.assert_made_alike()
    assert list(twins.ours.scales) == list(twins.theirs.scales) == [("bias",), ("kernel",)]
    twins.assert_same_call(normal(*X))
    twins.assert_same_jitted_call(normal(*X))


def test_weight_norm_gives_each_feature_the_length_of_its_scale() -> None:
    layer = nnx.WeightNorm(
        nnx.Linear(3, 4, rngs=nnx.Rngs(0)), scale_init=nnx.initializers.normal(), rngs=nnx.Rngs(1)
    )
    layer(jnp.ones((1, 3)))
    assert layer.scales is not None
    lengths = jnp.linalg.norm(layer.layer_instance.kernel[...], axis=0)  # type: ignore[attr-defined]  # it is a Linear
    np.testing.assert_allclose(lengths, abs(layer.scales[("kernel",)]), rtol=1e-5)
    assert len(set(lengths.tolist())) == 4


def test_random_scales_leave_the_streams_where_they_are() -> None:
    rngs = nnx.Rngs(params=0)
    layer = nnx.WeightNorm(
        LAYERS["nested"](nnx, nnx.Rngs(1)), scale_init=nnx.initializers.normal(), rngs=rngs
    )
    assert rngs.params.count[...] == 0
    drawn = rngs.params.normal((4,))
    assert layer.scales is not None
    first, second = (layer.scales[("layers", number, "kernel")] for number in (0, 2))
    assert not np.allclose(first[:2], second)
    assert not np.allclose(first * 100, drawn)


def test_weight_norm_names_the_kernel_that_lacks_the_axis() -> None:
    make = lambda lib, rngs: lib.WeightNorm(  # noqa: E731
        LAYERS["linear"](lib, rngs), feature_axes=2, rngs=rngs
    )
    with pytest.raises(IndexError):
        make(flax.nnx, flax.nnx.Rngs(0))
    with pytest.raises(errors.LayerArgumentError, match=r"float32.3,4. at .'kernel',."):
        make(nnx, nnx.Rngs(0))


def test_weight_norm_refuses_what_is_no_rngs() -> None:
    make = lambda lib, rngs: lib.WeightNorm(LAYERS["linear"](lib, rngs), rngs=None)  # noqa: E731
    assert_refused_alike(make, normal(*X))
