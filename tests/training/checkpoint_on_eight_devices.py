"""Checkpoints between meshes; `test_on_devices.py` runs this where the host has eight devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from typed_nnx.errors import CheckpointError
from typed_nnx.training import checkpoint

KEYS = 8


class Model(nnx.Module):
    """A matrix, a vector, keys and a count."""

    def __init__(self, seed: int) -> None:
        rngs = nnx.Rngs(seed)
        self.matrix = nnx.Param(
            rngs.normal((8, 4)), sharding_names=("x", None), eager_sharding=False
        )
        self.vector = nnx.Param(rngs.normal((16,)).astype(jnp.bfloat16))
        self.keys = nnx.Variable(jax.random.split(jax.random.key(seed), KEYS))
        self.count = nnx.Variable(jnp.asarray(seed))


def mesh_of(rows: int, columns: int) -> Mesh:
    auto = jax.sharding.AxisType.Auto
    return jax.make_mesh((rows, columns), ("x", "y"), axis_types=(auto, auto))


def specs() -> dict[str, Any]:
    return {"matrix": P("x", "y"), "vector": P(("x", "y")), "keys": P("x"), "count": P()}


def shardings(mesh: Mesh) -> nnx.State:
    return nnx.State({name: NamedSharding(mesh, spec) for name, spec in specs().items()})


def placed(model: Model, mesh: Mesh) -> Model:
    for name, spec in specs().items():
        variable = getattr(model, name)
        variable.set_value(jax.device_put(variable[...], NamedSharding(mesh, spec)))
    return model


def same_values(model: Model, other: Model) -> bool:
    pairs = zip(jax.tree.leaves(nnx.state(model)), jax.tree.leaves(nnx.state(other)), strict=True)
    return all(np.array_equal(plain(a), plain(b)) for a, b in pairs)


def plain(value: Any) -> Any:
    return np.asarray(jax.random.key_data(value) if "key<" in str(value.dtype) else value)


def lies(model: Model, mesh: Mesh) -> bool:
    return all(getattr(model, n)[...].sharding == s for n, s in shardings(mesh).items())


def test_there_are_eight_devices() -> None:
    assert len(jax.devices()) == 8


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (1, 2), (2, 1)], ids=str)
def test_a_cut_model_is_restored_on_another_mesh(tmp_path: Path, shape: tuple[int, int]) -> None:
    mesh, other = mesh_of(4, 2), mesh_of(*shape)
    checkpoint.save(tmp_path / "c", placed(Model(1), mesh))
    model = placed(Model(2), other)
    checkpoint.restore(tmp_path / "c", model)
    assert same_values(model, Model(1))
    assert lies(model, other)


def test_a_model_of_one_device_is_restored_in_pieces_and_back(tmp_path: Path) -> None:
    mesh = mesh_of(2, 2)
    checkpoint.save(tmp_path / "c", Model(1))
    model = Model(2)
    checkpoint.restore(tmp_path / "c", model, sharding=shardings(mesh))
    assert same_values(model, Model(1))
    assert lies(model, mesh)
    checkpoint.save(tmp_path / "c", model, overwrite=True)
    back = Model(3)
    checkpoint.restore(tmp_path / "c", back)
    assert same_values(back, Model(1))
    assert all(len(leaf.devices()) == 1 for leaf in jax.tree.leaves(nnx.state(back)))


def test_a_model_is_loaded_in_pieces(tmp_path: Path) -> None:
    mesh = mesh_of(4, 2)
    checkpoint.save(tmp_path / "c", placed(Model(1), mesh_of(2, 1)))

    def rows(path: tuple[Any, ...], array: jax.ShapeDtypeStruct) -> NamedSharding | None:
        assert array.shape == getattr(Model(0), path[0]).shape
        return NamedSharding(mesh, P("x")) if array.ndim else None

    model = checkpoint.load(tmp_path / "c", lambda: Model(0), sharding=rows)
    assert same_values(model, Model(1))
    assert model.keys[...].sharding == NamedSharding(mesh, P("x"))
    assert not model.count[...].committed
    everywhere = NamedSharding(mesh, P())
    model = checkpoint.load(tmp_path / "c", lambda: Model(0), sharding=everywhere)
    for leaf in jax.tree.leaves(nnx.state(model)):
        assert leaf.sharding.is_equivalent_to(everywhere, leaf.ndim)


def test_loaded_arrays_lie_as_their_metadata_says_on_the_mesh_in_force(tmp_path: Path) -> None:
    mesh = mesh_of(4, 2)
    checkpoint.save(tmp_path / "c", Model(1))
    with jax.set_mesh(mesh):
        model = checkpoint.load(tmp_path / "c", lambda: Model(0))
    assert model.matrix[...].sharding == NamedSharding(mesh, P("x", None))
    assert same_values(model, Model(1))


def test_an_axis_that_does_not_divide_an_array_is_reported(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", {"a": jnp.ones(3)})
    with pytest.raises(CheckpointError, match=r"at \('a',\), which is float32\[3\]"):
        checkpoint.restore(
            tmp_path / "c", {"a": jnp.ones(3)}, sharding=NamedSharding(mesh_of(4, 2), P("x"))
        )


def test_a_manager_saves_what_was_cut(tmp_path: Path) -> None:
    with checkpoint.CheckpointManager(tmp_path) as manager:
        manager.save(1, placed(Model(1), mesh_of(4, 2)))
        model = placed(Model(2), mesh_of(2, 2))
        manager.restore(model)
    assert same_values(model, Model(1))
    assert lies(model, mesh_of(2, 2))


def test_a_safetensors_file_is_loaded_in_pieces(tmp_path: Path) -> None:
    checkpoint.save_safetensors(tmp_path / "m.safetensors", placed(Model(1), mesh_of(2, 2)))
    model = Model(2)
    mesh = mesh_of(4, 2)
    checkpoint.load_safetensors(tmp_path / "m.safetensors", model, sharding=shardings(mesh))
    assert same_values(model, Model(1))
    assert lies(model, mesh)
