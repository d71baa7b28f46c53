"""Variables made inside of transforms lie where their metadata says; `test_devices.py` runs this file.

With flax as the oracle: a law that it keeps too is a test with `lib`.
"""

from __future__ import annotations

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx.errors import UnknownMeshAxisError

OUTER = jnp.ones((4, 8))
SOURCES = {
    "numpy": lambda: np.ones((4, 8), np.float32),
    "traced": lambda: jnp.ones((4, 8)),
    "closed over": lambda: OUTER,
}


def mesh_of(kind: AxisType) -> Mesh:
    return jax.make_mesh((2, 4), ("a", "b"), axis_types=(kind, kind))


def value_of(made: Any) -> Any:
    return made.get_value() if hasattr(made, "get_value") else made


def maker(lib: Any, source: Any, metadata: Any) -> Any:
    return lambda: lib.Param(source(), out_sharding=("a", "b"), **metadata)


def scanned(lib: Any, make: Any) -> Any:
    def body(carry: Any, x: Any) -> Any:
        return carry, make()

    axes = (lib.Carry, 0)
    return lib.scan(body, in_axes=axes, out_axes=axes)(jnp.zeros(()), jnp.arange(2))[1]


TRANSFORMS = {
    "eagerly": (lambda lib, make: make(), 0),
    "jax.jit": (lambda lib, make: jax.jit(lambda: value_of(make()))(), 0),
    "jit": (lambda lib, make: lib.jit(make)(), 0),
    "remat": (lambda lib, make: lib.jit(lib.remat(make))(), 0),
    "cond": (lambda lib, make: lib.jit(lambda: lib.cond(jnp.array(True), make, make))(), 0),
    "eval_shape": (lambda lib, make: lib.eval_shape(make), 0),
    "scan": (scanned, 1),
    "vmap in jit": (lambda lib, make: lib.jit(lambda: lib.vmap(lambda x: make())(jnp.arange(2)))(), 1),
}  # fmt: skip


@both
@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit], ids=["auto", "explicit"])
@pytest.mark.parametrize("by", ["set_mesh", "metadata"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_variable_made_in_a_transform_lies_where_its_metadata_says(lib, kind, by, name):
    transform, new_axes = TRANSFORMS[name]
    mesh = mesh_of(kind)
    # An array of outside is on no explicit mesh, and flax reshards eagerly.
    sources = [s for s in SOURCES if name != "eagerly" or s == "numpy"]
    for source in sources:
        metadata = {"mesh": mesh} if by == "metadata" else {}
        context = contextlib.nullcontext() if by == "metadata" else jax.set_mesh(mesh)
        if by == "metadata" and kind is AxisType.Explicit and name != "eagerly":
            context = jax.set_mesh(mesh)  # jax reshards only on the mesh in force
        with context:
            made = transform(lib, maker(lib, SOURCES[source], metadata))
        spec = P(*[None] * new_axes, "a", "b")
        assert value_of(made).sharding.spec == spec, source


@both
def test_layers_and_optimizers_are_made_under_jax_jit_with_sharding_metadata(lib):
    mesh = mesh_of(AxisType.Auto)

    def step() -> Any:
        init = lib.with_partitioning(lib.initializers.ones, ("a", "b"))
        layer = lib.Linear(4, 8, kernel_init=init, rngs=lib.Rngs(0))
        optimizer = lib.Optimizer(layer, optax.sgd(1.0, momentum=0.5), wrt=lib.Param)
        optimizer.update(layer, lib.grad(lambda layer: layer(jnp.ones((2, 4))).sum())(layer))
        return lib.state((layer, optimizer), lib.Not(lib.RngState))

    with jax.set_mesh(mesh):
        for state in (lib.jit(step)(), jax.jit(step)()):
            (kernel,) = [v for p, v in lib.to_flat_state(state) if p[-1] == "kernel" and p[0] == 0]
            assert kernel.sharding.spec == P("a", "b")
            # The slope is the sum of the inputs, and the first step takes all of it.
            assert jnp.allclose(kernel[...], 1.0 - 2.0)
            (trace,) = [
                v for p, v in lib.to_flat_state(state) if "trace" in p and p[-1] == "kernel"
            ]
            assert trace.sharding.spec == P("a", "b")


@both
def test_eval_shape_says_where_each_variable_would_lie(lib):
    mesh = mesh_of(AxisType.Auto)

    class Model(lib.Module):  # type: ignore[name-defined]  # lib is a parameter
        def __init__(self) -> None:
            self.cut = lib.Param(jnp.ones((4, 8)), out_sharding=("a", "b"))
            self.later = lib.Param(jnp.ones((4, 8)), out_sharding=(None, "a"), eager_sharding=False)
            self.whole = lib.Param(jnp.ones(3))
            self.count = 3

    with jax.set_mesh(mesh):
        abstract = lib.eval_shape(Model)
    specs = {"cut": P("a", "b"), "later": P(None, "a"), "whole": P()}
    for name, spec in specs.items():
        value = getattr(abstract, name).get_value()
        assert isinstance(value, jax.ShapeDtypeStruct)
        assert value.sharding == NamedSharding(mesh.abstract_mesh, spec)


@both
def test_without_a_mesh_eval_shape_says_nothing_of_places(lib):
    abstract = lib.eval_shape(lambda: lib.Param(OUTER, out_sharding=("a",), eager_sharding=False))
    assert abstract.get_value().sharding is None


def test_an_axis_that_the_mesh_lacks_is_named_with_its_variable():
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(OUTER, out_sharding=("c",), eager_sharding=False)

    with (
        jax.set_mesh(mesh_of(AxisType.Auto)),
        pytest.raises(UnknownMeshAxisError, match=r"Model\.w"),
    ):
        nnx.eval_shape(Model)


@both
def test_a_format_is_a_place_too(lib):
    place = NamedSharding(mesh_of(AxisType.Auto), P("a"))
    variable = lib.Param(OUTER, out_sharding=Format(Layout(major_to_minor=(1, 0)), place))
    assert variable.sharding == place
    assert variable.get_value().format.layout.major_to_minor == (1, 0)


def test_the_partition_of_a_format_is_that_of_its_sharding():
    place = NamedSharding(mesh_of(AxisType.Auto), P("a"))
    variable = nnx.Param(OUTER, out_sharding=Format(Layout(major_to_minor=(1, 0)), place))
    assert nnx.get_partition_spec({"w": variable})["w"].get_value() == P("a")
