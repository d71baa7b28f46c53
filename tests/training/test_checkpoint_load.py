"""`load` builds a model from its checkpoint; the constructor makes no values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.training.checkpoint_models import Everything, Network, bits
from typed_nnx.errors import CheckpointMismatchError
from typed_nnx.training import checkpoint
from typed_nnx.training.optimizer import Optimizer


@pytest.mark.thorough
def test_leaves_of_every_kind_are_loaded(tmp_path: Path) -> None:
    def made(seed: int) -> Any:
        model: Any = Everything(seed)
        # Texts, arrays of numpy and references do not come out of `eval_shape`.
        for name in ("plain", "numpy", "scalar", "host", "ref"):
            delattr(model, name)
        model.count = nnx.Variable(seed)
        return model

    saved = made(3)
    checkpoint.save(tmp_path / "c", saved)
    loaded = checkpoint.load(tmp_path / "c", lambda: made(0))
    assert bits(loaded) == bits(saved)


def test_the_constructor_makes_no_values(tmp_path: Path) -> None:
    made: list[object] = []

    def constructor() -> Network:
        model = Network(0)
        made.extend(jax.tree.leaves(nnx.state(model)))
        return model

    checkpoint.save(tmp_path / "c", Network(3))
    checkpoint.load(tmp_path / "c", constructor)
    assert len(made) == 7
    assert all(isinstance(value, jax.core.Tracer) for value in made)


def test_a_model_and_its_optimizer_are_loaded_together(tmp_path: Path) -> None:
    def made(seed: int) -> dict[str, object]:
        model = Network(seed)
        return {"model": model, "optimizer": Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)}

    saved = made(3)
    checkpoint.save(tmp_path / "c", saved)
    assert bits(checkpoint.load(tmp_path / "c", lambda: made(0))) == bits(saved)


def test_a_constructor_of_another_shape_is_reported(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", Network(3))
    with pytest.raises(
        CheckpointMismatchError, match="load: .* does not fit List; 12 leaves differ"
    ):
        checkpoint.load(
            tmp_path / "c", lambda: nnx.List([Network(0).layers, nnx.Param(jnp.ones(2))])
        )


def test_loaded_arrays_lie_where_one_says_or_where_their_metadata_does(tmp_path: Path) -> None:
    class Cut(nnx.Module):
        def __init__(self) -> None:
            self.a = nnx.Param(jnp.ones((4, 2)), sharding_names=("x", None))
            self.b = nnx.Param(jnp.ones(2))

    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    with jax.set_mesh(mesh):
        checkpoint.save(tmp_path / "c", Cut())
        loaded = checkpoint.load(tmp_path / "c", Cut)
        assert loaded.a[...].sharding == NamedSharding(mesh, P("x", None))
        # Releases of jax name the place of an array without sharding differently.
        assert loaded.b[...].sharding.is_equivalent_to(Cut().b[...].sharding, 1)
        everywhere = NamedSharding(mesh, P())
        loaded = checkpoint.load(tmp_path / "c", Cut, sharding=everywhere)
        assert loaded.b[...].sharding == loaded.a[...].sharding == everywhere
