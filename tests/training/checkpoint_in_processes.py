"""A program that several processes of `jax.distributed` run together: save, overwrite, restore.

``python -m tests.training.checkpoint_in_processes ADDRESS PROCESSES PROCESS FOLDER``
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from typed_nnx.training import checkpoint


def model(seed: int) -> Any:
    """Make a model with an array over all processes, local arrays and random streams."""
    mesh = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = NamedSharding(mesh, P("x"))
    values = np.arange(16.0, dtype=np.float32) + seed
    spread = jax.make_array_from_callback((16,), rows, lambda index: values[index])
    return nnx.Dict(
        spread=nnx.Param(spread),
        local=nnx.Param(jnp.full(3, seed)),
        rngs=nnx.Rngs(seed),
        host=nnx.Variable(np.full(2, seed)),
    )


def check(found: Any, seed: int) -> None:
    """The model has the values of a seed."""
    for shard in found.spread[...].addressable_shards:
        assert np.array_equal(shard.data, (np.arange(16.0) + seed)[shard.index])
    assert found.local[...].tolist() == [seed] * 3
    assert found.host[...].tolist() == [seed] * 2
    assert jax.random.key_data(found.rngs.default.key[...]).tolist() == [0, seed]


def main(address: str, processes: str, process: str, folder: str) -> None:
    """Run the checks of one process."""
    jax.distributed.initialize(address, int(processes), int(process))
    path = Path(folder)
    found = model(9)
    for seed in (1, 2, 3):
        checkpoint.save(path / "c", model(seed), overwrite=True)
        checkpoint.restore(path / "c", found)
        check(found, seed)
    with checkpoint.CheckpointManager(path / "run", keep_last=2) as manager:
        for step in range(1, 5):
            manager.save(step, model(step), metrics={"score": step})
        assert manager.restore(found) == 4
        check(found, 4)
    print("done", manager.all_steps()[-2:])


if __name__ == "__main__":
    main(*sys.argv[1:])
