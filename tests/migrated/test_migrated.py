"""`typed_nnx.migrated`: what migrated code does as Linen did; the corpus runs the layers against Linen."""

from __future__ import annotations

import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.support.processes import run_process
from typed_nnx import migrated


class Net(nnx.Module):
    """A layer with statistics, noise and a variable that is made later."""

    def __init__(self, width: int = 3, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.width = width
        self.dense = nnx.Linear(in_features, width, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.seen = nnx.data(None)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.norm(self.dense(x))

    def doubled(self, x: jax.Array) -> jax.Array:
        return 2 * self.dense(x)


@pytest.fixture
def net() -> Net:
    return Net(in_features=2, rngs=nnx.Rngs(0))


X = jnp.arange(8.0).reshape(4, 2)


def test_variables_are_nested_by_collection_and_path(net: Net) -> None:
    variables = migrated.variables_of(net)
    assert set(variables) == {"params", "batch_stats"}
    assert variables["params"]["dense"]["kernel"] is net.dense.kernel.get_value()


def test_a_model_is_applied_to_other_variables_and_stays_as_it_is(net: Net) -> None:
    variables = migrated.variables_of(net)
    variables["params"]["dense"] = {"kernel": jnp.ones((2, 3)), "bias": jnp.zeros(3)}
    before = net.dense.kernel.get_value()
    doubled = migrated.apply_with(net, variables, X, method="doubled")
    np.testing.assert_allclose(doubled, 2 * X @ np.ones((2, 3)))
    assert net.dense.kernel.get_value() is before


def test_statistics_change_where_they_are_mutable(net: Net) -> None:
    variables = migrated.variables_of(net)
    _, updated = migrated.apply_with(net, variables, X, mutable=["batch_stats"])
    hidden = net.dense(X)
    expected = 0.01 * hidden.mean(axis=0)
    np.testing.assert_allclose(updated["batch_stats"]["norm"]["mean"], expected, rtol=1e-5)
    np.testing.assert_array_equal(net.norm.mean[...], np.zeros(3))


def test_what_constructs_a_model_is_applied_like_it(net: Net) -> None:
    variables = migrated.variables_of(net)
    np.testing.assert_array_equal(
        migrated.apply_with(Net, variables, X), migrated.apply_with(net, variables, X)
    )


class Mixed(nnx.Module):
    """A module that needs sizes of several arguments."""

    def __init__(
        self,
        *,
        in_shape: tuple[int, ...],
        batch_a_features: int,
        items_features: tuple[int, ...],
        mask_features: int | None = None,
        traced: int = 7,
        rngs: nnx.Rngs,
    ) -> None:
        sizes = (*in_shape, batch_a_features, *items_features, mask_features or 0, traced)
        self.sizes = nnx.Param(jnp.array(sizes))
        self.key = nnx.Param(rngs.dropout.key.get_value())

    def __call__(
        self, train: bool, x: object, batch: object, items: object, mask: object = None
    ) -> jax.Array:
        return self.sizes[...]


def test_init_takes_the_sizes_of_the_arguments_and_the_keys_of_streams() -> None:
    batch = {"a": jnp.ones((2, 4))}
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    items = [X, jnp.ones(9)]
    variables = migrated.init_with(Mixed, keys, True, X, batch=batch, items=items)
    np.testing.assert_array_equal(variables["params"]["sizes"], [4, 2, 4, 2, 9, 0, 7])
    assert jnp.array_equal(
        variables["params"]["key"], nnx.Rngs(dropout=keys["dropout"]).dropout.key[...]
    )
    output = migrated.apply_with(partial(Mixed, traced=8), variables, True, X, batch, items)
    np.testing.assert_array_equal(output, variables["params"]["sizes"])


def test_init_is_that_of_the_object_where_it_has_one() -> None:
    class Other:
        def init(self, rngs: int, *args: int, method: str = "") -> tuple[object, ...]:
            return (rngs, *args, method)

        def apply(self, *args: int, mutable: bool = False) -> tuple[object, ...]:
            return (*args, mutable)

    variables: object = migrated.init_with(Other(), 1, 2, method="encode")
    assert variables == (1, 2, "encode")
    assert migrated.apply_with(Other(), {}, 2, mutable=True) == ({}, 2, True)
    with pytest.raises(TypeError, match="got a Net, expected its constructor"):
        migrated.init_with(Net(in_features=2, rngs=nnx.Rngs(0)), 1, X)
    with pytest.raises(TypeError, match="does not determine `in_features` of Net"):
        migrated.init_with(Net, 1)


@pytest.mark.thorough
def test_init_like_constructs_another_model_with_the_same_fields() -> None:
    net = Net(5, in_features=2, rngs=nnx.Rngs(0))
    variables = migrated.init_like(net, jax.random.key(1), jnp.ones((1, 7)), method=net.doubled)
    assert variables["params"]["dense"]["kernel"].shape == (7, 5)
    doubled = migrated.apply_with(net, migrated.variables_of(net), X, method=net.doubled)
    np.testing.assert_array_equal(doubled, net.doubled(X))


def test_init_like_refuses_a_field_that_holds_a_module(net: Net) -> None:
    class Around(nnx.Module):
        def __init__(self, inner: nnx.Module, *, rngs: nnx.Rngs) -> None:
            self.inner = inner

    around = Around(net, rngs=nnx.Rngs(0))
    with pytest.raises(TypeError, match="`inner` of Around holds a module"):
        migrated.init_like(around, jax.random.key(0), X)


def test_the_output_of_a_model_that_is_constructed_later_comes_with_its_variables() -> None:
    output, variables = migrated.init_with_output(Net, jax.random.key(0), X, method="doubled")
    np.testing.assert_array_equal(output, migrated.apply_with(Net, variables, X, method="doubled"))
    assert set(variables) == {"params", "batch_stats"}


def test_the_sizes_of_init_are_known_to_methods_without_arguments() -> None:
    variables = migrated.init_with(partial(Net, 4), jax.random.key(0), X)
    bound = migrated.apply_with(partial(Net, 4), variables, method=lambda one: one.dense)
    assert bound.in_features == 2
    other: dict[str, object] = {"params": {}}
    with pytest.raises(TypeError, match="does not determine `in_features`"):
        migrated.apply_with(partial(Net, 4), other, method=lambda one: one.dense)


def test_a_field_is_known_of_a_model_and_of_what_constructs_it(net: Net) -> None:
    assert migrated.field_of(net, "width") == 3
    assert migrated.field_of(Net, "width") == 3
    assert migrated.field_of(partial(Net, 5), "width") == 5
    assert migrated.field_of(1j, "imag") == 1


def test_a_class_and_a_partial_construct_objects_of_its_bases() -> None:
    assert migrated.constructs(partial(nnx.Linear, 2), nnx.Linear)
    assert not migrated.constructs(nnx.Conv, nnx.Linear)
    assert not migrated.constructs(lambda: None, nnx.Linear)


def test_a_variable_is_made_by_the_first_call_that_asks_for_it(net: Net) -> None:
    first = migrated.made_once(net, "seen", nnx.BatchStat, jnp.zeros, 3)
    assert migrated.made_once(net, "seen", nnx.BatchStat, jnp.ones, 3) is first
    np.testing.assert_array_equal(first[...], np.zeros(3))


def test_a_copy_computes_with_other_parameters() -> None:
    layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    other = migrated.with_parameters(layer, {"kernel": jnp.ones((2, 3))})
    np.testing.assert_allclose(other(X), X @ np.ones((2, 3)))
    assert not np.allclose(layer(X), other(X))


def test_functions_of_linen_get_the_parameters_of_a_module_by_name() -> None:
    layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    own = migrated.OwnParameters(layer)
    np.testing.assert_array_equal(own.param("kernel", None), layer.kernel[...])


def test_what_no_call_builds_raises_where_it_is_asked_for() -> None:
    with pytest.raises(NotImplementedError, match="Dense is not built by the constructor"):
        migrated.not_built("Dense")


def test_arrays_stay_in_their_dtype_or_go_to_that_of_the_first() -> None:
    arrays = (jnp.ones(2, jnp.bfloat16), jnp.ones(2, jnp.float32))
    assert migrated.keep_dtypes(arrays) is arrays
    assert {one.dtype for one in migrated.in_dtype_of_inputs(arrays)} == {jnp.dtype(jnp.bfloat16)}


def test_attention_functions_get_what_they_name() -> None:
    attend = migrated.with_accepted_arguments(lambda query, key, value, *, mask: (query, mask))
    assert attend(1, 2, 3, mask=4, precision=None, module=None) == (1, 4)


@pytest.mark.thorough
def test_the_import_of_the_package_does_not_import_it() -> None:
    code = "import sys, typed_nnx; sys.exit('typed_nnx.migrated' in sys.modules)"
    assert run_process([sys.executable, "-c", code], timeout=120).returncode == 0


class Encoder(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.rnn = nnx.RNN(nnx.GRUCell(in_features, 4, rngs=rngs), return_carry=True)

    def __call__(self, x: jax.Array) -> jax.Array:
        carry, _ = self.rnn(x)
        return jnp.asarray(carry)


def test_a_model_that_is_constructed_for_a_call_has_keys_to_draw_from() -> None:
    x = jnp.ones((2, 3, 5))
    variables = migrated.init_with(Encoder, jax.random.key(0), x)

    applied = migrated.apply_with(Encoder, variables, x)

    # What it draws is of no use to the zeros that a carry begins with.
    expected = migrated.apply_with(Encoder, variables, x, rngs={"carry": jax.random.key(1)})
    np.testing.assert_array_equal(applied, expected)


def test_what_a_call_does_not_read_need_not_be_given(net: Net) -> None:
    variables = migrated.variables_of(net)
    part = {"params": {"dense": variables["params"]["dense"]}}

    doubled = migrated.apply_with(net, part, X, method="doubled")

    np.testing.assert_array_equal(doubled, net.doubled(X))
    with pytest.raises(TypeError, match="ShapeDtypeStruct"):
        migrated.apply_with(net, part, X)
    with pytest.raises(KeyError, match="dense"):
        migrated.apply_with(net, {"params": {"Dense_0": part["params"]["dense"]}}, X)
