"""`scan` over objects: it is the loop over the steps; the laws hold in NNX too."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.core.libraries import both
from tests.transforms.mapping_scenarios import (
    MODES,
    all_modes,
    model_of,
    scan_by_loop,
    stacked_model,
    values,
)

XS = jnp.arange(4.0)


def apply_layer(layer: Any, carry: Any) -> Any:
    """Read and write every Variable of a layer; float carry [3] -> float [3]."""
    layer.total[...] += carry.sum()
    layer.inner.bias[...] *= 2.0
    return carry * 0.5 + layer.weight[...] + layer.inner.bias[...].reshape(1)


def count_step(model: Any, x: Any) -> Any:
    """Add to the count of a carried model."""
    model.count[...] += x
    return model, x * 10


def counter(lib: Any) -> Any:
    return model_of(lib, count=lib.BatchStat(jnp.zeros(())), kind="a")


# -- stacked layers ----------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize(
    "options", [{}, {"reverse": True}, {"unroll": 2}, {"unroll": True}], ids=str
)
def test_stacked_layers_give_what_the_loop_gives(lib, mode, options):
    layers, start = stacked_model(lib), jnp.ones(3)
    variables = (layers.weight, layers.total, layers.inner)
    expected, left = scan_by_loop(
        apply_layer, stacked_model(lib), start, reverse=options.get("reverse", False)
    )
    scanned = lib.scan(apply_layer, in_axes=(0, lib.Carry), out_axes=lib.Carry, **options, **mode)
    np.testing.assert_allclose(scanned(layers, start), expected)
    assert values(layers) == values(left)
    after = (layers.weight, layers.total, layers.inner)
    assert all(one is other for one, other in zip(variables, after, strict=True))


@both
@all_modes
def test_stacked_layers_as_the_second_argument(lib, mode):
    layers, start = stacked_model(lib), jnp.ones(3)
    expected, left = scan_by_loop(apply_layer, stacked_model(lib), start)

    def step(carry: Any, layer: Any) -> Any:
        return apply_layer(layer, carry), carry

    result, carries = lib.scan(step, **mode)(start, layers)
    np.testing.assert_allclose(result, expected)
    assert carries[0].tolist() == start.tolist()
    assert values(layers) == values(left)


@both
def test_a_method_scans_over_its_own_layers(lib: Any) -> None:
    class Stack(lib.Module):
        def __init__(self) -> None:
            self.weight = lib.Param(jnp.arange(3.0))
            self.seen = lib.BatchStat(jnp.zeros(3))

        @lib.scan(in_axes=(0, lib.Carry), out_axes=lib.Carry)
        def __call__(self, x: Any) -> Any:
            self.seen[...] = x
            return x + self.weight[...]

    stack = Stack()
    assert float(stack(1.0)) == 4.0
    assert stack.seen[...].tolist() == [1.0, 1.0, 2.0]


@both
@all_modes
def test_gradients_through_the_layers_are_those_of_the_loop(lib, mode):
    def loss(weight: Any, loop: bool) -> Any:
        layers = model_of(lib, weight=lib.Param(weight))

        def step(layer: Any, carry: Any) -> Any:
            return jnp.sin(carry * layer.weight[...])

        if loop:
            return scan_by_loop(step, layers, 0.5)[0]
        return lib.scan(step, in_axes=(0, lib.Carry), out_axes=lib.Carry, **mode)(layers, 0.5)

    weight = jnp.arange(1.0, 4.0)
    expected = jax.grad(loss)(weight, True)
    np.testing.assert_allclose(jax.grad(loss)(weight, False), expected, rtol=1e-6)


@both
@all_modes
def test_layers_may_change_the_shape_of_a_variable(lib, mode):
    layers = stacked_model(lib)

    def step(carry: Any, layer: Any) -> Any:
        layer.total.set_value(jnp.full(2, carry))
        return carry + 1, None

    lib.scan(step, **mode)(0.0, layers)
    assert layers.total[...].tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


@both
@all_modes
def test_new_models_come_out_stacked(lib, mode):
    def step(carry: Any, x: Any) -> Any:
        return carry + x, model_of(lib, weight=lib.Param(x + carry), kind="made")

    carry, made = lib.scan(step, **mode)(0.0, XS)
    assert (float(carry), type(made.weight), made.kind) == (6.0, lib.Param, "made")
    assert made.weight[...].tolist() == [0.0, 1.0, 3.0, 6.0]


# -- carried models ----------------------------------------------------------------------------


@both
@all_modes
def test_a_carried_model_is_mutated_step_by_step(lib, mode):
    model = counter(lib)
    variable = model.count
    carry, ys = lib.scan(count_step, **mode)(model, XS)
    assert float(model.count[...]) == float(carry.count[...]) == 6.0
    assert model.count is variable
    assert ys.tolist() == (XS * 10).tolist()


@both
def test_a_carried_model_is_returned_itself(lib):
    model = counter(lib)
    carry, _ = lib.scan(count_step)(model, XS)
    assert carry is model


@both
@all_modes
def test_a_model_and_arrays_in_the_carry(lib, mode):
    def step(carry: Any, x: Any) -> Any:
        carry["model"].count[...] += x * carry["scale"]
        return {"model": carry["model"], "scale": carry["scale"] * 2}, carry["scale"]

    model = counter(lib)
    carry, scales = lib.scan(step, **mode)({"model": model, "scale": 1.0}, XS)
    assert scales.tolist() == [1.0, 2.0, 4.0, 8.0]
    assert float(model.count[...]) == 1 * 2 + 2 * 4 + 3 * 8
    assert float(carry["scale"]) == 16.0


@both
@pytest.mark.parametrize("mode", [MODES["updates"], MODES["no_updates"]], ids=str)
def test_a_model_twice_in_the_carry_stays_one(lib, mode):
    def step(carry: Any, x: Any) -> Any:
        one, two = carry
        one.count[...] += x
        two.count[...] += 1
        return (one, two), None

    model = counter(lib)
    (one, two), _ = lib.scan(step, **mode)((model, model), XS)
    assert one is two
    assert float(model.count[...]) == 10.0


@both
@all_modes
def test_random_numbers_of_a_carried_stream_are_those_of_the_loop(lib, mode):
    rngs = lib.Rngs(params=0)
    _, ys = lib.scan(lambda rngs, x: (rngs, rngs.params.normal(())), **mode)(rngs, XS)
    loop = lib.Rngs(params=0)
    assert ys.tolist() == [float(loop.params.normal(())) for _ in XS]
    assert int(rngs.params.count[...]) == 4


@both
@all_modes
def test_random_numbers_of_split_streams_are_those_of_the_loop(lib, mode):
    rngs = lib.Rngs(params=0).split(3)
    keys = rngs.params.key[...]
    scanned = lib.scan(lambda rngs: rngs.params.normal(()), in_axes=0, out_axes=0, **mode)
    expected = [float(jax.random.normal(jax.random.fold_in(key, 0), ())) for key in keys]
    assert scanned(rngs).tolist() == expected
    assert rngs.params.count[...].tolist() == [1] * 3


@both
@all_modes
def test_a_carried_variable_is_written_back(lib, mode):
    variable = lib.Param(jnp.zeros(()))

    def step(variable: Any, x: Any) -> Any:
        variable[...] += x
        return variable, variable[...]

    _, ys = lib.scan(step, **mode)(variable, XS)
    assert (float(variable[...]), ys.tolist()) == (6.0, [0.0, 1.0, 3.0, 6.0])


# -- structure ---------------------------------------------------------------------------------


@both
def test_the_structure_of_layers_may_change(lib):
    layers = stacked_model(lib)

    def step(carry: Any, layer: Any) -> Any:
        layer.extra = lib.Cache(layer.weight[...] * 2)
        layer.weight = lib.Param(layer.weight[...] + 1)
        layer.kind = "b"
        del layer.inner
        return carry, None

    lib.scan(step)(0.0, layers)
    before = np.arange(12.0).reshape(4, 3)
    assert layers.extra[...].tolist() == (before * 2).tolist()
    assert layers.weight[...].tolist() == (before + 1).tolist()
    assert (layers.kind, hasattr(layers, "inner")) == ("b", False)


@both
@pytest.mark.filterwarnings("ignore:Using 'Module.sow")
def test_what_layers_sow_comes_out_stacked(lib):
    layers = stacked_model(lib)

    def step(carry: Any, layer: Any) -> Any:
        layer.sow(lib.Intermediate, "seen", carry)
        return carry + 1, None

    lib.scan(step)(0.0, layers)
    assert [array.tolist() for array in layers.seen.get_value()] == [[0.0, 1.0, 2.0, 3.0]]


@both
def test_layers_returned_are_the_layers(lib):
    layers = stacked_model(lib)
    _, (again, part) = lib.scan(lambda carry, layer: (carry, (layer, layer.inner)))(0.0, layers)
    assert again is layers
    assert part is layers.inner


@both
def test_a_static_attribute_of_a_carried_model_may_change(lib):
    def step(model: Any, x: Any) -> Any:
        model.kind = "b"
        return model, x

    model = counter(lib)
    lib.scan(step)(model, XS)
    assert model.kind == "b"


@both
def test_a_plain_array_of_a_carried_model_is_carried(lib):
    model = counter(lib)
    model.plain = jnp.zeros(())

    def step(model: Any, x: Any) -> Any:
        model.plain = model.plain + x
        return model, x

    lib.scan(step)(model, XS)
    assert float(model.plain) == 6.0


# -- nesting and calling ------------------------------------------------------------------------


@both
@all_modes
def test_scan_of_scan_is_the_loop_of_the_loop(lib, mode):
    def inner(carry: Any, x: Any) -> Any:
        return carry + x, carry

    def outer(carry: Any, row: Any) -> Any:
        return lib.scan(inner, **mode)(carry, row)

    carry, ys = lib.scan(outer, **mode)(0.0, jnp.arange(6.0).reshape(2, 3))
    assert (float(carry), ys.tolist()) == (15.0, [[0.0, 0.0, 1.0], [3.0, 6.0, 10.0]])


@both
@all_modes
def test_jit_of_scan_is_scan(lib, mode):
    layers, start = stacked_model(lib), jnp.ones(3)
    expected, left = scan_by_loop(apply_layer, stacked_model(lib), start)
    scanned = lib.scan(apply_layer, in_axes=(0, lib.Carry), out_axes=lib.Carry, **mode)
    np.testing.assert_allclose(lib.jit(scanned, **mode)(layers, start), expected)
    assert values(layers) == values(left)


@both
@all_modes
def test_vmap_inside_scan(lib, mode):
    layers = model_of(lib, weight=lib.Param(jnp.arange(8.0).reshape(2, 4)))

    def step(layer: Any, carry: Any) -> Any:
        return lib.vmap(lambda c, w: c * 2 + w, **mode)(carry, layer.weight[...])

    scanned = lib.scan(step, in_axes=(0, lib.Carry), out_axes=lib.Carry, **mode)
    weight = np.arange(8.0).reshape(2, 4)
    assert scanned(layers, jnp.ones(4)).tolist() == ((2 + weight[0]) * 2 + weight[1]).tolist()


@both
@all_modes
def test_models_can_be_called_and_functions_keep_their_names(lib: Any, mode: Any):
    class Model(lib.Module):
        def __call__(self, carry: Any, x: Any) -> Any:
            return carry + x, carry

    assert float(lib.scan(Model(), **mode)(0.0, XS)[0]) == 6.0
    part = functools.partial(lambda scale, carry, x: (carry + scale * x, carry), 2.0)
    assert float(lib.scan(part, **mode)(0.0, XS)[0]) == 12.0
    scanned = lib.scan(count_step, **mode)
    assert (scanned.__name__, scanned.__wrapped__) == ("count_step", count_step)


@both
def test_scan_leaks_no_tracer(lib: Any) -> None:
    def total(x: Any) -> Any:
        scanned = lib.scan(
            lambda carry, y: (carry + y, carry), in_axes=(lib.Carry, 0), out_axes=(lib.Carry, 0)
        )
        return scanned(x[0], x)[0]

    with jax.checking_leaks():
        assert jax.jit(total)(jnp.ones(3)) == 4
