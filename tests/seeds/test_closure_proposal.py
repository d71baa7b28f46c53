"""What the seed document ``closure_capture_proposal.txt`` promises, sentence by sentence.

flax 0.12.8 does not have it; expected values are those of the same function without a transform.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import typed_nnx as nnx
from typed_nnx import Linear

MODES: list[dict[str, bool]] = [
    {"graph": False},
    {"graph": True, "graph_updates": False},
    {"graph": True, "graph_updates": True},
]
every_mode = pytest.mark.parametrize("mode", MODES, ids=["tree", "fixed", "graph"])


class Layer(nnx.Module):
    """A linear map with a count of its calls."""

    def __init__(self) -> None:
        self.linear = Linear(2, 2, rngs=nnx.Rngs(0))
        self.count = nnx.BatchStat(jnp.array(0.0))

    def __call__(self, x: jax.Array) -> jax.Array:
        self.count[...] += 1.0
        return self.linear(x)


X = jnp.array([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]])


def jitted(f: tp.Callable[..., tp.Any], mode: tp.Any) -> tp.Any:
    return nnx.jit(f, **mode)(X)


def mapped(f: tp.Callable[..., tp.Any], mode: tp.Any) -> tp.Any:
    return nnx.vmap(f, **mode)(X)


def differentiated(f: tp.Callable[..., tp.Any], mode: tp.Any) -> tp.Any:
    return nnx.grad(lambda x: f(x).sum(), **mode)(X)


def scanned(f: tp.Callable[..., tp.Any], mode: tp.Any) -> tp.Any:
    return nnx.scan(f, in_axes=0, out_axes=0, **mode)(X)


def expected_of(run: tp.Any, layer: Layer) -> tp.Any:
    """Return what a run gives: the layer of X, or the sum of its kernel's columns for each row."""
    assert layer.linear.bias is not None
    kernel, bias = layer.linear.kernel[...], layer.linear.bias[...]
    return jnp.broadcast_to(kernel.sum(1), X.shape) if run is differentiated else X @ kernel + bias


# How often the layer counts: a scan runs it once for each row.
CALLS = {jitted: 1.0, mapped: 1.0, differentiated: 1.0, scanned: 3.0}
every_transform = pytest.mark.parametrize("run", CALLS, ids=lambda run: run.__name__)


@every_mode
@every_transform
def test_mutations_of_captured_variables_propagate_back(run: tp.Any, mode: tp.Any) -> None:
    layer = Layer()
    expected = expected_of(run, layer)
    result = run(lambda x: layer(x), mode)
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    assert layer.count[...] == CALLS[run]


@every_mode
@every_transform
def test_changes_from_outside_are_reflected_in_later_calls(run: tp.Any, mode: tp.Any) -> None:
    layer = Layer()

    def function(x: jax.Array) -> jax.Array:
        return layer(x)

    run(function, mode)
    layer.linear.kernel[...] = jnp.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(run(function, mode), expected_of(run, layer), rtol=1e-5)
    assert layer.count[...] == 2 * CALLS[run]


def test_captured_values_are_dynamic_inputs_and_not_constants_of_the_trace() -> None:
    layer, traces = Layer(), []

    @nnx.jit
    def forward(x: jax.Array) -> jax.Array:
        traces.append(x)
        return layer(x)

    for factor in (1.0, 2.0, 3.0):
        assert layer.linear.bias is not None
        layer.linear.bias[...] = jnp.full(2, factor)
        expected = X @ layer.linear.kernel[...] + factor
        np.testing.assert_allclose(forward(X), expected, rtol=1e-5)
    assert len(traces) == 1


@every_mode
def test_one_module_may_be_in_the_closure_and_in_the_arguments(mode: tp.Any) -> None:
    layer = Layer()

    @nnx.jit(**mode)
    def forward(given: Layer, linear: Linear, x: jax.Array) -> jax.Array:
        assert given is layer
        assert linear is layer.linear  # found inside the captured one
        given.count[...] += 10.0
        return layer(x)

    if mode["graph"]:
        forward(layer, layer.linear, X)
        assert layer.count[...] == 11.0
    else:  # two arguments may not share in trees
        with pytest.raises(nnx.errors.SharedReferenceError):
            forward(layer, layer.linear, X)
        assert layer.count[...] == 0.0


@every_mode
def test_a_variable_of_a_captured_module_may_be_an_argument(mode: tp.Any) -> None:
    layer = Layer()

    def forward(count: tp.Any, x: jax.Array) -> jax.Array:
        count[...] += 10.0
        return layer(x)

    nnx.jit(forward, **mode)(layer.count, X)
    assert layer.count[...] == 11.0


@every_mode
def test_captures_have_no_gradient_and_argnums_count_the_arguments_alone(mode: tp.Any) -> None:
    layer = Layer()

    def loss(x: jax.Array, scale: jax.Array) -> jax.Array:
        return scale * layer(x).sum()

    scale = jnp.array(2.0)
    by_x, by_scale = nnx.grad(loss, argnums=(0, 1), **mode)(X, scale)
    np.testing.assert_allclose(by_x, scale * expected_of(differentiated, layer), rtol=1e-5)
    np.testing.assert_allclose(by_scale, expected_of(jitted, layer).sum(), rtol=1e-4)
    assert nnx.grad(loss, argnums=1, **mode)(X, scale) == pytest.approx(float(by_scale))


@every_mode
def test_captures_need_no_entry_in_in_axes_or_in_shardings(mode: tp.Any) -> None:
    layer = Layer()
    sharding = NamedSharding(
        jax.make_mesh((1,), ("x",), axis_types=(AxisType.Auto,)), PartitionSpec()
    )

    def forward(x: jax.Array, scale: jax.Array) -> jax.Array:
        return layer(x) * scale

    scales = jnp.array([1.0, 2.0, 3.0])
    plain = expected_of(jitted, layer)
    result = nnx.vmap(forward, in_axes=(0, 0), out_axes=1, **mode)(X, scales)
    np.testing.assert_allclose(result, (plain * scales[:, None]).T, rtol=1e-5)
    result = nnx.jit(forward, in_shardings=(sharding, sharding), **mode)(X, jnp.array(2.0))
    np.testing.assert_allclose(result, plain * 2.0, rtol=1e-5)
    assert layer.count[...] == 2.0


@every_transform
def test_functions_that_capture_only_other_things_are_unaffected(run: tp.Any) -> None:
    shift = jnp.array([1.0, 2.0])
    calls: list[int] = []

    def forward(x: jax.Array) -> jax.Array:
        calls.append(len(calls))  # a Python list stays itself
        return x * shift

    expected = jnp.broadcast_to(shift, X.shape) if run is differentiated else X * shift
    np.testing.assert_allclose(run(forward, {}), expected)
    assert calls
