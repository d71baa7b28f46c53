"""A program that saves again and again until it is killed; the tests of kills run it.

``python -m tests.training.checkpoint_writer save|manager FOLDER``: every array of version n is full of
n. A line is printed when `save` returned; a manager has then at least the version before.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx
from typed_nnx.training.checkpoint import CheckpointManager, save


def model(version: int) -> Any:
    """Make a model whose arrays say its version."""
    layers = [nnx.Param(jnp.full((50, 50), version)) for _ in range(10)]
    return nnx.Dict(layers=nnx.List(layers), host=nnx.Variable(np.full(100, version)))


def main(how: str, folder: str) -> None:
    """Save versions 1, 2, 3, ... without end."""
    manager = CheckpointManager(folder, keep_last=1, best="score", best_mode="min", keep_best=1)
    for version in itertools.count((manager.latest_step() or 0) + 1):
        if how == "save":
            save(folder, model(version), overwrite=True)
        else:
            manager.save(version, model(version), metrics={"score": version % 7})
        if manager.all_steps() or how == "save":
            print("ready", version, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
