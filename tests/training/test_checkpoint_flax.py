"""Checkpoints of flax and of orbax are read, and ours are read by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from typed_nnx.training import checkpoint
from typed_nnx.training.optimizer import Optimizer


def made(lib: Any, seed: int) -> Any:
    """Make the same model with either library, with an optimizer."""

    class Dense(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.kernel = lib.Param(rngs.params.normal((2, 3)))
            self.bias = lib.Param(jnp.full(3, seed, jnp.bfloat16))

    class Network(lib.Module):
        def __init__(self) -> None:
            rngs = lib.Rngs(seed)
            self.layers = lib.List([Dense(rngs), Dense(rngs)])
            self.value = lib.BatchStat(jnp.full(3, seed))
            self.tree = lib.Cache({"x": jnp.full(2, seed), "y": [jnp.full(1, seed)]})
            self.rngs = rngs
            self.legacy = lib.Variable(jax.random.PRNGKey(seed))

    model = Network()
    optimizer: Any = (Optimizer if lib is nnx else lib.Optimizer)(
        model, optax.chain(optax.clip(1.0), optax.adam(1e-3)), wrt=lib.Param
    )
    return {"model": model, "optimizer": optimizer}


def values(lib: Any, node: Any) -> dict[Any, Any]:
    """Map the paths of a node to dtype and bytes."""
    found = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(lib.to_pure_dict(lib.state(node))):
        data = jax.random.key_data(leaf) if "key<" in str(leaf.dtype) else leaf
        found[jax.tree_util.keystr(path)] = (str(leaf.dtype), np.asarray(data).tobytes())
    return found


@pytest.fixture(params=["StandardCheckpointer", "PyTreeCheckpointer"])
def write(request: pytest.FixtureRequest) -> Iterator[Any]:
    writer = getattr(ocp, request.param)()
    yield writer.save
    writer.close()


def finish(write: Any) -> None:
    if hasattr(write.__self__, "wait_until_finished"):
        write.__self__.wait_until_finished()


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["state", "pure dict"])
def test_a_checkpoint_of_flax_is_restored(tmp_path: Path, write: Any, form: str) -> None:
    theirs, ours = made(flax_nnx, 1), made(nnx, 2)
    state = flax_nnx.state(theirs)
    write(tmp_path / "c", state if form == "state" else flax_nnx.to_pure_dict(state))
    finish(write)
    checkpoint.restore(tmp_path / "c", ours)
    assert values(nnx, ours) == values(flax_nnx, theirs)


def test_a_checkpoint_of_flax_is_loaded_and_restored_in_part(tmp_path: Path, write: Any) -> None:
    theirs = made(flax_nnx, 1)
    write(tmp_path / "c", flax_nnx.state(theirs["model"]))
    finish(write)
    loaded = checkpoint.load(tmp_path / "c", lambda: made(nnx, 2)["model"])
    assert values(nnx, loaded) == values(flax_nnx, theirs["model"])
    model = made(nnx, 2)["model"]
    checkpoint.restore(tmp_path / "c", model, nnx.Param)
    assert jnp.array_equal(model.layers[1].kernel[...], theirs["model"].layers[1].kernel[...])
    assert model.value[...].tolist() == [2, 2, 2]


def test_data_of_keys_that_users_made_for_orbax_become_keys_again(
    tmp_path: Path, write: Any
) -> None:
    theirs, ours = made(flax_nnx, 1)["model"], made(nnx, 2)["model"]

    def plain(value: Any) -> Any:
        return jax.random.key_data(value) if "key<" in str(value.dtype) else value

    pure = jax.tree.map(plain, flax_nnx.to_pure_dict(flax_nnx.state(theirs)))
    write(tmp_path / "c", pure)
    finish(write)
    checkpoint.restore(tmp_path / "c", ours)
    assert values(nnx, ours) == values(flax_nnx, theirs)


def test_the_folder_of_a_manager_of_orbax_is_read_and_continued(tmp_path: Path) -> None:
    theirs, ours = made(flax_nnx, 1), made(nnx, 2)
    options = ocp.CheckpointManagerOptions(best_fn=lambda metrics: metrics["score"])
    with ocp.CheckpointManager(tmp_path, options=options) as manager:
        for step, score in ((3, 0.5), (4, 0.1)):
            args = ocp.args.StandardSave(flax_nnx.state(theirs))
            manager.save(step, args=args, metrics={"score": score})
            manager.wait_until_finished()
    with checkpoint.CheckpointManager(tmp_path, best="score") as manager:
        assert manager.all_steps() == [3, 4]
        assert (manager.best_step(), manager.metrics(4)) == (3, {"score": 0.1})
        assert manager.restore(ours) == 4
        assert values(nnx, ours) == values(flax_nnx, theirs)
        manager.save(5, ours, metrics={"score": 0.9})
        manager.wait_until_finished()
        assert manager.best_step() == 5
    with ocp.CheckpointManager(tmp_path, options=options) as manager:
        assert (manager.all_steps(), manager.best_step()) == ([3, 4, 5], 5)


def test_items_are_restored_by_their_names(tmp_path: Path) -> None:
    theirs, ours = made(flax_nnx, 1), made(nnx, 2)
    items = {name: ocp.args.StandardSave(flax_nnx.state(node)) for name, node in theirs.items()}
    with ocp.CheckpointManager(tmp_path) as manager:
        manager.save(3, args=ocp.args.Composite(**items))
    checkpoint.restore(tmp_path, ours)
    assert values(nnx, ours) == values(flax_nnx, theirs)
    other = made(nnx, 5)
    checkpoint.restore(tmp_path / "3" / "model", other["model"])
    assert values(nnx, other["model"]) == values(flax_nnx, theirs["model"])


def test_a_checkpoint_of_flax_that_does_not_fit_changes_nothing(tmp_path: Path, write: Any) -> None:
    theirs, ours = made(flax_nnx, 1)["model"], made(nnx, 2)["model"]
    theirs.value = flax_nnx.BatchStat(jnp.zeros(4))
    theirs.extra = flax_nnx.Param(jnp.zeros(2))
    del theirs.layers[0].bias
    write(tmp_path / "c", flax_nnx.state(theirs))
    finish(write)
    before = values(nnx, ours)
    with pytest.raises(ValueError, match="3 leaves differ") as info:
        checkpoint.restore(tmp_path / "c", ours)
    text = str(info.value)
    assert "missing at ('layers', 0, 'bias'): expected bfloat16[3]" in text
    assert "wrong at ('value',): expected int32[3], found float32[4]" in text
    assert "extra at ('extra', 'value'): expected nothing, found float32[2]" in text
    assert values(nnx, ours) == before


def test_flax_reads_what_we_wrote(tmp_path: Path) -> None:
    ours, theirs = made(nnx, 1)["model"], made(flax_nnx, 2)["model"]
    for model in (ours, theirs):
        del model.tree
    checkpoint.save(tmp_path / "c", ours)
    abstract = jax.tree.map(
        ocp.utils.to_shape_dtype_struct, flax_nnx.to_pure_dict(flax_nnx.state(theirs))
    )
    abstract["layers"] = {str(key): value for key, value in abstract["layers"].items()}
    with ocp.StandardCheckpointer() as reader:
        found = reader.restore(tmp_path / "c" / "version_1" / "default", abstract)
    state = flax_nnx.state(theirs)
    flax_nnx.replace_by_pure_dict(state, flax_nnx.restore_int_paths(found))
    flax_nnx.update(theirs, state)
    assert values(flax_nnx, theirs) == values(nnx, ours)
