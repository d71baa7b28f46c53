"""`get_abstract_model` and `as_abstract` on one device; compared with flax where it does the same."""

from __future__ import annotations

import typing as tp

import flax.nnx
import flax.nnx.spmd
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx import spmd

KINDS = {"auto": AxisType.Auto, "explicit": AxisType.Explicit}


@pytest.fixture(params=list(KINDS.values()), ids=list(KINDS))
def mesh(request: pytest.FixtureRequest) -> jax.sharding.Mesh:
    return jax.make_mesh((1, 1), ("data", "model"), axis_types=(request.param,) * 2)


def model_class(lib: tp.Any) -> tp.Any:
    class Model(lib.Module):
        def __init__(self) -> None:
            self.w = lib.Param(jnp.zeros((8, 4)), out_sharding=("data", "model"), note="n")
            self.b = lib.Param(jnp.zeros(4))
            self.rngs = lib.Rngs(0)
            self.width = 4

    return Model


@both
def test_an_abstract_model_has_shapes_metadata_and_shardings(lib: tp.Any, mesh: tp.Any) -> None:
    graphdef, state = lib.spmd.get_abstract_model(model_class(lib), mesh)
    w, b = state["w"], state["b"]
    assert (w.get_value().shape, w.get_value().dtype) == ((8, 4), jnp.float32)
    assert w.get_value().sharding == NamedSharding(mesh, P("data", "model"))
    assert b.get_value().sharding == NamedSharding(mesh, P())
    assert w.get_metadata("note") == "n"
    key = state["rngs"]["default"]["key"].get_raw_value()
    assert jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    merged = lib.merge(graphdef, state)
    assert merged.width == 4
    assert isinstance(merged.w.get_value(), jax.ShapeDtypeStruct)


@both
def test_no_memory_is_taken_for_an_abstract_model(lib: tp.Any, mesh: tp.Any) -> None:
    def huge() -> tp.Any:
        return {"w": lib.Param(jnp.zeros((1 << 20, 1 << 20)))}

    shape = lib.spmd.get_abstract_model(huge, mesh)[1]["w"].get_value()
    assert shape.shape == (1 << 20, 1 << 20)


@both
def test_a_shared_variable_is_in_the_state_once(lib: tp.Any, mesh: tp.Any) -> None:
    def make() -> tp.Any:
        model = model_class(lib)()
        model.again = model.w
        return model

    paths = [path for path, _ in lib.to_flat_state(lib.spmd.get_abstract_model(make, mesh)[1])]
    assert ("again",) in paths
    assert ("w",) not in paths
    with pytest.raises(ValueError, match="Duplicate"):
        lib.spmd.get_abstract_model(make, mesh, graph=False)


def test_values_that_are_trees_or_numbers_are_shapes_too(mesh: tp.Any) -> None:
    """flax raises here."""

    def make() -> tp.Any:
        return {"tree": nnx.Param({"x": jnp.ones(3)}), "plain": [jnp.ones(2)]}

    state: tp.Any = spmd.get_abstract_model(make, mesh)[1]
    everywhere = NamedSharding(mesh, P())
    assert state["tree"].get_value()["x"].sharding == everywhere
    assert state["plain"][0].sharding == everywhere


def test_an_abstract_model_stands_in_for_the_real_one_in_compilation(mesh: tp.Any) -> None:
    graphdef, state = spmd.get_abstract_model(model_class(nnx), mesh)

    @jax.jit
    def total(state: tp.Any) -> jax.Array:
        model = nnx.merge(graphdef, state)
        return model.w[...].sum() + model.b[...].sum()

    compiled = total.lower(state).compile()
    with jax.set_mesh(mesh):
        real = nnx.state(model_class(nnx)())
        placed = jax.device_put(real, spmd.get_named_sharding(real, mesh))
    assert float(compiled(placed)) == 0.0


@both
def test_in_a_mesh_a_shape_without_out_sharding_is_replicated(lib: tp.Any, mesh: tp.Any) -> None:
    with jax.set_mesh(mesh):
        found = lib.eval_shape(lambda: lib.Param(jnp.zeros(4)))
    assert found.get_raw_value().sharding.is_fully_replicated


# -- as_abstract -------------------------------------------------------------------------------


def shape(**metadata: tp.Any) -> tp.Any:
    return jax.ShapeDtypeStruct((8,), jnp.int32, **metadata)


@both
def test_the_shape_in_a_variable_gets_the_sharding_of_its_metadata(
    lib: tp.Any, mesh: tp.Any
) -> None:
    def value(**metadata: tp.Any) -> tp.Any:
        variable = lib.Param(metadata.pop("shape", shape()), eager_sharding=False, **metadata)
        return lib.spmd.as_abstract(variable).get_raw_value()

    assert value(out_sharding=("data",), mesh=mesh).sharding == NamedSharding(mesh, P("data"))
    with jax.set_mesh(mesh):
        assert value(out_sharding=("data",)).sharding.spec == P("data")
        assert value().sharding is None
    placed = NamedSharding(mesh, P("model"))
    kept = value(shape=shape(sharding=placed), out_sharding=("data",), mesh=mesh)
    assert kept.sharding == placed
    with pytest.raises(ValueError, match="mesh"):
        value(out_sharding=("data",))


def test_arrays_become_shapes_that_lie_where_they_did() -> None:
    found: tp.Any = spmd.as_abstract({"a": jnp.ones(2), "b": np.ones(3), "c": 5, "d": None})
    assert (found["a"].shape, found["b"].shape, found["c"], found["d"]) == ((2,), (3,), 5, None)
    assert isinstance(found["a"].sharding, SingleDeviceSharding)


@both
def test_a_shared_variable_stays_one_in_the_tree(lib: tp.Any) -> None:
    variable = lib.Param(shape())
    found = lib.spmd.as_abstract({"a": variable, "b": variable})
    assert found["a"] is found["b"]
    with pytest.raises(ValueError, match="Duplicate"):
        lib.spmd.as_abstract({"a": variable, "b": variable}, graph=False)


def test_the_older_name_does_the_same() -> None:
    assert spmd.abstract_with_sharding is spmd.as_abstract
    assert set(flax.nnx.spmd.__dict__) >= {"abstract_with_sharding", "as_abstract"}
