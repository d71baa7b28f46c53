"""Sharding metadata of Linen and of Variables, on its way through the bridge."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn

import typed_nnx as nnx
from tests.bridge.linen_models import X
from tests.bridge.sides import assert_as_in_flax, state_of
from typed_nnx import bridge
from typed_nnx.errors import MeshRequiredError

AUTO = jax.sharding.AxisType.Auto


def mesh() -> jax.sharding.Mesh:
    return jax.make_mesh((1, 1), ("a", "b"), axis_types=(AUTO, AUTO))


def kernel(which: str) -> Any:
    """Return an initializer that says how its array is laid out."""
    ones = nn.initializers.ones
    rules = (("in", "a"), ("out", None))
    return {
        "mesh in force": nn.with_partitioning(ones, ("a", "b")),
        "mesh of its own": nn.with_partitioning(ones, (None, "b"), mesh=mesh()),
        "logical names": nn.with_logical_partitioning(ones, ("in", "out"), mesh(), rules),
    }[which]


class Counted(nn.Module):
    """A dense layer and a partitioned statistic that a call may change."""

    which: str

    @nn.compact
    def __call__(self, x: jax.Array) -> Any:
        boxed = nn.with_partitioning(lambda: jnp.zeros(4), ("b",))
        seen = self.variable("seen", "sum", boxed)
        y = nn.Dense(4, kernel_init=kernel(self.which))(x)
        if self.is_mutable_collection("seen"):
            seen.value = seen.value + y.sum(0)
        return y


KINDS = ["mesh in force", "mesh of its own", "logical names"]


@pytest.mark.parametrize("which", KINDS)
def test_boxes_of_linen_become_metadata_as_in_flax(which: str) -> None:
    def scenario(side: Any) -> Any:
        with jax.set_mesh(mesh()):
            model = side.bridge.ToNNX(Counted(which), rngs=side.nnx.Rngs(0)).lazy_init(X)
            first = state_of(side, model)
            output = model(X, mutable=["seen"])
            kernel = model.Dense_0["kernel"][...]
            return first, output, state_of(side, model), str(kernel.sharding)

    assert_as_in_flax(scenario)


@pytest.mark.parametrize("which", KINDS)
def test_linen_sees_its_boxes_again(which: str) -> None:
    def scenario(side: Any) -> Any:
        with jax.set_mesh(mesh()):
            model = side.bridge.ToNNX(nn.Dense(4, kernel_init=kernel(which)), rngs=side.nnx.Rngs(0))
            model.lazy_init(X)
            attrs = {"kernel": model.kernel, "bias": model.bias}
            return side.bridge.variables.nnx_attrs_to_linen_vars(attrs)

    assert_as_in_flax(scenario)


def test_without_a_mesh_the_missing_mesh_is_named() -> None:
    dense = nn.Dense(4, kernel_init=kernel("mesh in force"))
    with pytest.raises(MeshRequiredError, match=r"P\('a', 'b'\)"):
        bridge.ToNNX(dense, rngs=nnx.Rngs(0)).lazy_init(X)


def test_metadata_of_variables_gives_linen_its_partition_specs() -> None:
    def scenario(side: Any) -> Any:
        class Layer(side.nnx.Module):
            def __init__(self, rngs: Any) -> None:
                ones = jnp.ones((3, 4))
                self.named = side.nnx.Param(ones, out_sharding=("a", "b"), mesh=mesh())
                boxed = side.bridge.with_partitioning(nn.initializers.ones, ("a", None), mesh())
                self.boxed = side.nnx.Param(boxed(rngs.params(), (3, 4)))

            def __call__(self, x: jax.Array) -> Any:
                return x @ (self.named[...] + self.boxed[...])

        module = side.bridge.to_linen(Layer)
        variables = module.init(jax.random.key(0), X)
        specs = {k: str(v) for k, v in nn.get_partition_spec(variables)["params"].items()}
        return variables, specs, module.apply(variables, X)

    assert_as_in_flax(scenario)
