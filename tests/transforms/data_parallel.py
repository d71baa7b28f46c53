"""Data-parallel training, run by each process of `test_processes.py` and, alone, as its measure.

As a program: ``python -m tests.transforms.data_parallel COORDINATOR PROCESSES PROCESS``. It prints the
results as JSON on its last line.
"""

from __future__ import annotations

import json
import sys
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.transforms.library import nnx

Average = tp.Callable[[jax.Array], jax.Array]
STEPS, RATE, KEEP = 3, 0.25, 0.9
ROWS, FEATURES, OUTPUTS = 8, 3, 2


class Momentum(nnx.Variable):
    """The running sum of gradients of a parameter."""


class Model(nnx.Module):
    """A dense layer behind a normalisation by the whole batch, with its optimizer's memory."""

    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.sin(jnp.arange(6.0)).reshape(FEATURES, OUTPUTS))
        self.memory = Momentum(jnp.zeros((FEATURES, OUTPUTS)))
        self.mean = nnx.BatchStat(jnp.zeros(FEATURES))
        self.rngs = nnx.Rngs(3)

    def __call__(self, x: jax.Array, mean: jax.Array) -> jax.Array:
        self.mean[...] = KEEP * self.mean[...] + (1 - KEEP) * mean
        noise = 0.1 * jax.random.normal(self.rngs.params(), (FEATURES,))
        return jnp.tanh((x - (mean + noise)[None]) @ self.kernel[...])


def batches() -> np.ndarray:
    """Give float [steps, rows, features]."""
    size = STEPS * ROWS * FEATURES
    return np.cos(np.arange(size, dtype=np.float32)).reshape(STEPS, ROWS, FEATURES)


def train_step(model: tp.Any, x: jax.Array, average: Average = lambda array: array) -> tp.Any:
    """Take a step; `average` is over the processes where `x` is a part of the batch."""

    def loss(model: tp.Any) -> tp.Any:
        return jnp.square(model(x, average(x.mean(0)))).mean()

    value, slopes = nnx.value_and_grad(loss)(model)
    model.memory[...] = KEEP * model.memory[...] + average(slopes["kernel"][...])
    model.kernel[...] -= RATE * model.memory[...]
    return average(value)


def numbers(array: jax.Array) -> tp.Any:
    """Give the elements of an array of which this process holds a whole copy."""
    return np.asarray(array.addressable_data(0)).tolist()


def results(model: tp.Any, losses: list[jax.Array]) -> dict[str, tp.Any]:
    return {
        "losses": [numbers(loss) for loss in losses],
        "kernel": numbers(model.kernel[...]),
        "memory": numbers(model.memory[...]),
        "mean": numbers(model.mean[...]),
    }


def train_here() -> dict[str, tp.Any]:
    """Train on one device with the whole batch."""
    model, step = Model(), nnx.jit(train_step)
    return results(model, [step(model, x) for x in batches()])


def spread(mesh: Mesh, spec: P, whole: np.ndarray) -> jax.Array:
    """Make a global array to which each process adds the part that lies on its devices."""
    sharding = NamedSharding(mesh, spec)
    return jax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])


def train_by_jit(mesh: Mesh) -> dict[str, tp.Any]:
    """Let the compiler cut the work: the model is everywhere, the rows of a batch are spread."""
    everywhere, by_row = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    model = nnx.jit(Model, out_shardings=everywhere)()
    step = nnx.jit(train_step, in_shardings=(nnx.StateSharding({...: everywhere}), by_row))
    losses = [step(model, spread(mesh, P("data"), x)) for x in batches()]
    assert model.kernel[...].sharding.is_fully_replicated
    assert len(model.kernel[...].sharding.device_set) == mesh.size
    return results(model, losses)


def train_by_shard_map(mesh: Mesh) -> dict[str, tp.Any]:
    """Cut the batch and average over the devices by hand."""
    model = nnx.jit(Model, out_shardings=NamedSharding(mesh, P()))()

    def step(model: tp.Any, x: jax.Array) -> tp.Any:
        assert x.shape == (ROWS // mesh.size, FEATURES)
        return train_step(model, x, lambda array: jax.lax.pmean(array, "data"))

    mapped = nnx.jit(
        nnx.shard_map(
            step, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False
        )
    )  # fmt: skip
    losses = [mapped(model, spread(mesh, P("data"), x)) for x in batches()]
    return results(model, losses)


def main(coordinator: str, processes: int, process: int) -> None:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(coordinator, processes, process, initialization_timeout=60)
    assert jax.process_count() == processes
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    found = {
        "devices": [jax.local_device_count(), jax.device_count()],
        "jit": train_by_jit(mesh),
        "shard_map": train_by_shard_map(mesh),
    }
    jax.distributed.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
