"""Sharding metadata on eight devices; `test_eval_shape_partition_specs.py` runs this file in a process of its own.

By hand: ``XLA_FLAGS=--xla_force_host_platform_device_count=8 pytest tests/transforms/sharding_on_devices.py``.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.cut_blocks import first_down, first_up, lies, mesh_of, same
from typed_nnx import spmd

KINDS = {"auto": AxisType.Auto, "explicit": AxisType.Explicit}


@pytest.fixture(params=list(KINDS.values()), ids=list(KINDS))
def mesh(request: pytest.FixtureRequest) -> Mesh:
    return mesh_of(request.param)


class Block(nnx.Module):
    """Two dense layers whose weights name logical axes."""

    def __init__(self) -> None:
        up = spmd.with_partitioning(first_up, ("embed", "hidden"))
        down = spmd.with_partitioning(first_down, ("hidden", "embed"))
        self.up: nnx.Param[jax.Array] = nnx.Param(up())
        self.down: nnx.Param[jax.Array] = nnx.Param(down())
        self.bias = nnx.Param(jnp.zeros(4))

    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ self.up[...]) @ self.down[...] + self.bias[...][None]


def rules() -> tp.Any:
    return spmd.logical_axis_rules((("embed", None), ("hidden", "model")))


def lie_as_told(state: tp.Any, mesh: Mesh) -> None:
    lies(state["up"][...], mesh, None, "model")
    lies(state["down"][...], mesh, "model", None)
    lies(state["bias"][...], mesh)
    same(state["up"][...], first_up())
    same(state["down"][...], first_down())


def test_there_are_eight_devices() -> None:
    assert len(jax.devices()) == 8


def numbers() -> jax.Array:
    return jnp.arange(64.0).reshape(8, 8)


def place(lib: tp.Any, **metadata: tp.Any) -> tp.Any:
    return lib.Param(numbers(), **metadata)


def shards(variable: tp.Any) -> list[tp.Any]:
    """Return which part of the value lies on each device; the numbers are those of `numbers`."""
    value = variable.get_value()
    np.testing.assert_array_equal(np.asarray(value, np.float32), numbers())
    return sorted((s.device.id, str(s.index)) for s in value.addressable_shards)


def not_at_once(lib: tp.Any) -> tp.Any:
    with lib.use_eager_sharding(False):
        return place(lib, out_sharding=("data", None))


def of_the_device_in_jit(lib: tp.Any) -> tp.Any:
    made = numbers()
    return jax.jit(lambda: lib.Param(made, out_sharding=("data", "model")))()


# How a Variable is made, and in how many different parts its value then lies on the 2 x 4 devices.
WAYS: dict[str, tuple[tp.Any, int]] = {
    "names": (lambda lib: place(lib, out_sharding=("data", "model")), 8),
    "the second axis": (lambda lib: place(lib, out_sharding=(None, "data")), 2),
    "the older name": (lambda lib: place(lib, sharding=("model", None)), 4),
    "with_metadata": (
        lambda lib: lib.Param(lib.with_metadata(numbers, out_sharding=("model", None))()),
        4,
    ),
    "in jit": (lambda lib: jax.jit(lambda: place(lib, out_sharding=("data", "model")))(), 8),
    "an array of the device in jit": (of_the_device_in_jit, 8),
    "a copy": (lambda lib: place(lib, out_sharding=("data", None)).copy(), 2),
    "bfloat16": (
        lambda lib: lib.Param(numbers().astype(jnp.bfloat16), out_sharding=("data", None)),
        2,
    ),
    "not at once": (lambda lib: place(lib, out_sharding=("data", None), eager_sharding=False), 1),
    "not at once in a block": (not_at_once, 1),
    "no metadata": (lambda lib: place(lib), 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_value_is_cut_as_in_flax(way: str) -> None:
    make, parts = WAYS[way]
    with jax.set_mesh(mesh_of()):
        ours, theirs = (shards(make(lib)) for lib in (nnx, flax_nnx))
    assert ours == theirs
    assert len({index for _, index in ours}) == parts


def test_a_mesh_in_the_metadata_needs_none_in_force() -> None:
    metadata = {"out_sharding": ("data", None), "mesh": mesh_of()}
    ours, theirs = (shards(place(lib, **metadata)) for lib in (nnx, flax_nnx))
    assert ours == theirs
    assert len({index for _, index in ours}) == 2


OWN = (("a", "data"), ("b", "model"))
PLACEMENTS: dict[str, tuple[tp.Any, dict[str, tp.Any]]] = {
    "rules in force": (OWN, {"out_sharding": ("a", "b")}),
    "rules of the Variable": ((), {"out_sharding": ("b", "a"), "sharding_rules": OWN}),
    "both, which agree": ((("b", "model"),), {"out_sharding": ("a", "b"), "sharding_rules": OWN}),
    "a partition": (OWN, {"out_sharding": P("b", None)}),
    "a mesh axis that is a logical axis too": ((("data", "model"),), {"out_sharding": ("data",)}),
    "an axis that is not cut": ((("a", None), ("b", "data")), {"out_sharding": ("a", "b")}),
    "two mesh axes": ((("a", ("data", "model")),), {"out_sharding": (None, "a")}),
    "the last of two rules": ((("a", "data"), ("a", "model")), {"out_sharding": ("a",)}),
    "a tuple of mesh axes": (OWN, {"out_sharding": (("data", "model"), None)}),
}


@pytest.mark.parametrize("name", PLACEMENTS)
def test_a_value_is_placed_by_the_rules_as_in_flax(name: str, mesh: Mesh) -> None:
    in_force, metadata = PLACEMENTS[name]
    found = []
    for lib, context in ((nnx, spmd.logical_axis_rules), (flax_nnx, flax_nnx.logical_axis_rules)):
        with jax.set_mesh(mesh), context(in_force):
            found.append(shards(place(lib, **metadata)))
    assert found[0] == found[1]
    assert len({index for _, index in found[0]}) > 1


def test_rules_count_under_jit(mesh: Mesh) -> None:
    with jax.set_mesh(mesh), rules():
        made = jax.jit(lambda: nnx.Param(first_up() * 1, out_sharding=("embed", "hidden"))[...])()
    lies(made, mesh, None, "model")


def shapes(state: tp.Any) -> dict[str, tp.Any]:
    found = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        spec = tuple(leaf.sharding.spec)
        found[jax.tree_util.keystr(path)] = (leaf.shape, str(leaf.dtype), leaf.sharding.mesh, spec)
    return found


@pytest.mark.parametrize("eager", [True, False])
def test_an_abstract_model_is_that_of_flax(mesh: Mesh, eager: bool) -> None:
    def abstract(lib: tp.Any) -> dict[str, tp.Any]:
        class Model(lib.Module):
            def __init__(self) -> None:
                self.w = lib.Param(jnp.zeros((8, 4)), out_sharding=("data", "model"))
                self.v = lib.Param(
                    jnp.zeros((8, 4)), out_sharding=("x", None), sharding_rules=(("x", "data"),)
                )
                self.plain = lib.BatchStat(jnp.zeros(3, jnp.bfloat16))
                self.rngs = lib.Rngs(0)

        with lib.use_eager_sharding(eager):
            return shapes(lib.spmd.get_abstract_model(Model, mesh)[1])

    assert abstract(nnx) == abstract(flax_nnx)


def test_an_abstract_model_says_where_a_jitted_constructor_puts_the_model(mesh: Mesh) -> None:
    with rules(), nnx.use_eager_sharding(False):
        graphdef, state = spmd.get_abstract_model(Block, mesh)
        where = spmd.get_named_sharding(state, mesh)
        made = jax.jit(lambda: nnx.state(Block()), out_shardings=where)()
    lie_as_told(made, mesh)
    assert isinstance(nnx.merge(graphdef, made), Block)


def test_a_constraint_on_the_state_places_a_model_that_is_made_in_jit() -> None:
    mesh = mesh_of()

    @nnx.jit
    def make() -> Block:
        block = Block()
        state = nnx.state(block)
        nnx.update(block, jax.lax.with_sharding_constraint(state, spmd.get_partition_spec(state)))
        return block

    with jax.set_mesh(mesh), rules(), nnx.use_eager_sharding(False):
        made = make()
    lie_as_told(nnx.state(made), mesh)


def test_values_are_put_where_named_shardings_say(mesh: Mesh) -> None:
    with nnx.use_eager_sharding(False), rules():
        state = nnx.state(Block())
        placed = jax.device_put(state, spmd.get_named_sharding(state, mesh))
    lie_as_told(placed, mesh)


def test_shapes_of_a_placed_model_keep_its_sharding(mesh: Mesh) -> None:
    with jax.set_mesh(mesh), rules():
        block = Block()
    shape = spmd.as_abstract(block).up.get_raw_value()
    assert isinstance(shape, jax.ShapeDtypeStruct)
    assert shape.sharding.is_equivalent_to(NamedSharding(mesh, P(None, "model")), 2)
    np.testing.assert_array_equal(block.up[...], first_up())


@both
def test_further_names_of_axes_in_transform_metadata(lib: tp.Any, mesh: Mesh) -> None:
    seen = []

    class Layers(lib.Module):
        @lib.vmap(transform_metadata={lib.PARTITION_NAME: None, "label": "layer"})
        def __init__(self, seed: jax.Array) -> None:
            self.w = lib.Param(jnp.ones(4) * seed, out_sharding=("data",), label=("features",))

        @lib.scan(
            in_axes=(0, lib.Carry), transform_metadata={lib.PARTITION_NAME: None, "label": "layer"}
        )
        def __call__(self, x: jax.Array) -> tp.Any:
            seen.append((self.w.get_metadata("label"), self.w.get_metadata("out_sharding")))
            return x + self.w[...].sum(), None

    with jax.set_mesh(mesh):
        layers = Layers(jnp.ones(3))
        layers(jnp.ones(()))
    assert set(seen) == {(("features",), ("data",))}
    assert layers.w.get_metadata("label") == ("layer", "features")
    assert layers.w.get_metadata("out_sharding") == (None, "data")


@both
def test_dropout_keeps_the_sharding_of_its_input_on_an_explicit_mesh(lib: tp.Any) -> None:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x = jax.reshard(jnp.ones((8, 4)), P("data", None))
        dropout = lib.Dropout(0.5, deterministic=False, rngs=lib.Rngs(0))
        assert jax.typeof(dropout(x)).sharding.spec == P("data", None)
