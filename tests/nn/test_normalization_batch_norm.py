"""BatchNorm against flax: programs, running averages, modes, mapped axes, float64."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.test_conv import quick
from tests.nn.twins import (
    DTYPES,
    LIBRARIES,
    Twins,
    assert_refused_alike,
    assert_same_bits,
    fresh_rngs,
    normal,
)
from typed_nnx import errors


@st.composite
def configurations(draw: Any) -> tuple[dict[str, Any], jax.Array, dict[str, Any]]:
    ndim = draw(st.integers(1, 4))
    shape = [4, 3, 2, 3][:ndim]
    axis = draw(st.integers(-ndim, ndim - 1))
    options = {
        "num_features": shape[axis],
        "axis": axis,
        "use_running_average": draw(st.booleans()),
        "momentum": draw(st.sampled_from([0.99, 0.5, 0.0])),
        "epsilon": draw(st.sampled_from([1e-5, 0.1])),
        "dtype": draw(st.sampled_from(DTYPES)),
        "param_dtype": draw(st.sampled_from(DTYPES[1:])),
        "use_bias": draw(st.booleans()),
        "use_scale": draw(st.booleans()),
        "bias_init": nnx.initializers.normal(),
        "use_fast_variance": draw(st.booleans()),
        "bias_metadata": draw(st.sampled_from([{}, {"note": "b"}])),
    }
    call: dict[str, Any] = {}
    if draw(st.booleans()):
        call["use_running_average"] = draw(st.booleans())
    if draw(st.booleans()):
        call["mask"] = jnp.asarray(np.random.RandomState(3).rand(*shape) > 0.3)
    return options, normal(*shape, dtype=draw(st.sampled_from([*DTYPES, jnp.int32]))), call


@pytest.mark.thorough
@quick
@given(configurations())
def test_batch_norm_is_the_twin_of_flax(configuration: Any) -> None:
    options, x, call = configuration
    twins = Twins(lambda lib, rngs: lib.BatchNorm(**options, rngs=rngs))
    twins.assert_made_alike()
    twins.assert_same_program(x, **call)
    if jnp.issubdtype(x.dtype, jnp.inexact):
        twins.assert_same_gradients(x, **call)


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "precise"])
@pytest.mark.parametrize("masked", [True, False], ids=["masked", "whole"])
def test_devices_of_a_mapped_axis_form_one_batch_as_in_flax(fast: bool, masked: bool) -> None:
    x = normal(2, 5, 3)
    mask = jnp.asarray([True, True, False, True, True])[:, None] if masked else None
    results = []
    for lib in LIBRARIES:
        layer = lib.BatchNorm(3, axis_name="i", use_fast_variance=fast, rngs=fresh_rngs(lib))
        mapped = lib.vmap(lambda layer, x: layer(x, mask=mask), in_axes=(None, 0), axis_name="i")
        results.append((mapped(layer, x), layer.mean[...], layer.var[...]))
    jax.tree.map(assert_same_bits, *results)
    if not masked:
        whole = nnx.BatchNorm(3, rngs=nnx.Rngs(0))
        np.testing.assert_allclose(results[0][0].reshape(-1, 3), whole(x.reshape(-1, 3)), atol=1e-5)
        np.testing.assert_allclose(results[0][1], whole.mean[...], atol=1e-6)


def after_training(lib: Any) -> list[Any]:
    """Return loss, gradients and averages of three layers made under vmap, called under scan."""
    layers = lib.vmap(lambda rngs: lib.BatchNorm(3, momentum=0.5, rngs=rngs))(
        fresh_rngs(lib).split(3)
    )
    scanned = lib.scan(
        lambda x, layer: jnp.tanh(layer(x)) + x, in_axes=(lib.Carry, 0), out_axes=lib.Carry
    )
    loss = lib.value_and_grad(lambda layers, x: (scanned(x, layers) ** 2).sum())
    value, gradients = lib.jit(loss)(layers, normal(5, 3))
    return [value, *jax.tree.leaves(gradients), layers.mean[...], layers.var[...]]


@pytest.mark.thorough
def test_batch_norm_trains_in_jit_grad_and_scan_as_in_flax() -> None:
    mine, other = (after_training(lib) for lib in LIBRARIES)
    for ours, theirs in zip(mine, other, strict=True):
        assert_same_bits(ours, theirs)
    assert mine[-1].shape == (3, 3)
    assert not np.allclose(mine[-1], 1.0)


def test_groups_of_devices_reach_the_exchange_as_in_flax() -> None:
    programs = []
    for lib in LIBRARIES:
        layer = lib.BatchNorm(
            3, axis_name="i", axis_index_groups=[[0, 1], [2, 3]], rngs=fresh_rngs(lib)
        )
        graphdef, state = lib.split(layer)
        call = lambda state, x, lib=lib, graphdef=graphdef: lib.merge(graphdef, state)(x)  # noqa: E731
        programs.append(str(jax.make_jaxpr(call, axis_env=[("i", 4)])(state, jnp.ones((2, 3)))))
    assert programs[0] == programs[1]
    assert "axis_index_groups=((0, 1), (2, 3))" in programs[0]


def test_modes_come_from_the_call_the_constructor_the_mode_or_a_view() -> None:
    for lib in LIBRARIES:
        layer = lib.BatchNorm(2, use_running_average=None, rngs=fresh_rngs(lib))
        x = jnp.array([[1.0, 2.0], [3.0, 6.0]])
        kept = layer(x, use_running_average=True)
        np.testing.assert_allclose(kept, x, rtol=1e-4)
        viewed = lib.view(layer, use_running_average=True)
        np.testing.assert_array_equal(viewed(x), kept)
        assert viewed.mean is layer.mean
        layer.set_view()
        assert layer.use_running_average is None
        layer.eval()
        np.testing.assert_array_equal(layer(x), kept)
        layer.train()
        assert abs(layer(x)).max() <= 1.0


def test_the_mode_that_nobody_set_is_asked_for() -> None:
    make = lambda lib, rngs: lib.BatchNorm(2, use_running_average=None, rngs=rngs)  # noqa: E731
    assert_refused_alike(make, jnp.ones((3, 2)))
    with pytest.raises(errors.UnsetModeError, match="model.train.. or model.eval.."):
        make(nnx, nnx.Rngs(0))(jnp.ones((3, 2)))


@pytest.mark.parametrize(
    ("shape", "options", "mask"),
    [
        ((5, 3), {}, None),
        ((4,), {"num_features": 1}, None),
        ((5, 2), {}, jnp.ones((5, 2))),
        ((5, 2), {}, jnp.ones((5,), bool)),
        ((5, 2), {"rngs": None}, None),
    ],
    ids=["features", "one-feature", "mask-dtype", "mask-shape", "rngs"],
)
def test_batch_norm_refuses_what_flax_refuses(shape: Any, options: Any, mask: Any) -> None:
    make = lambda lib, rngs: lib.BatchNorm(**{"num_features": 2, "rngs": rngs, **options})  # noqa: E731
    assert_refused_alike(make, jnp.ones(shape), mask=mask)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_norm_keeps_float32_averages_in_64_bits(dtype: str) -> None:
    with jax.enable_x64(True):
        mine, other = Twins(lambda lib, rngs: lib.BatchNorm(3, rngs=rngs)).both
        x = normal(4, 3, dtype=dtype)
        result = mine(x)
        # flax warns that it casts the averages: an error where it is one.
        if dtype == "float32":
            assert_same_bits(result, other(x))
            assert_same_bits(mine.mean[...], other.mean[...])
        assert result.dtype == dtype
        assert mine.mean.dtype == mine.var.dtype == jnp.float32
        batch = np.asarray(x)
        expected = (batch - batch.mean(0)) / np.sqrt(batch.var(0) + 1e-5)
        np.testing.assert_allclose(result, expected, rtol=1e-4)
