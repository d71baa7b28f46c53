"""Counts how often a jitted function is traced before and after its model is restored."""

from __future__ import annotations

import sys
from pathlib import Path

import jax

import typed_nnx as nnx
from tests.training.checkpoint_models import Everything
from typed_nnx.training import checkpoint


def main(path: Path) -> None:
    """Call, save, restore, call again, and print the number of traces."""
    traces = []

    @nnx.jit
    def step(model: Everything) -> jax.Array:
        traces.append(1)
        return model.weak[...] + model.odd[...].sum()

    model = Everything(2)
    for name in ("numpy", "scalar", "plain", "host"):
        delattr(model, name)
    step(model)
    checkpoint.save(path, model)
    checkpoint.restore(path, model)
    step(model)
    print(f"traced {len(traces)} times")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
