"""Training with every array in parts: parameters, slopes and optimizer over eight devices.

Run ``python -m examples.fsdp``. A layer says by which axis its arrays are cut; the state of the
optimizer follows the parameters. Nothing else changes: the compiler gathers each array where a
step needs it whole. On a machine without eight accelerators the CPU counts as eight devices.

Source: Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter models",
https://arxiv.org/abs/1910.02054.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import jax
import numpy as np
import optax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx

DEVICES = 8
INPUTS, HIDDEN = 16, 256
ROWS = 64  # of a batch


class Network(nnx.Module):
    """A function of 16 numbers, cut by the hidden axis: float [batch, 16] to float [batch, 1]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        by_output = {"out_sharding": (None, "data")}
        by_input = {"out_sharding": ("data", None)}
        bias = {"out_sharding": ("data",)}
        # The last bias has one number only: every device holds it.
        self.first = nnx.Linear(
            INPUTS, HIDDEN, kernel_metadata=by_output, bias_metadata=bias, rngs=rngs
        )
        self.second = nnx.Linear(
            HIDDEN, HIDDEN, kernel_metadata=by_input, bias_metadata=bias, rngs=rngs
        )
        self.last = nnx.Linear(HIDDEN, 1, kernel_metadata=by_input, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(nnx.relu(self.second(nnx.relu(self.first(x)))))


def mesh_of(devices: int) -> Mesh:
    """Return devices in a row; what is cut along "data" lies in as many parts."""
    return jax.make_mesh((devices,), ("data",), (AxisType.Auto,), devices=jax.devices()[:devices])


def build(seed: int) -> tuple[Network, nnx.Optimizer[Network]]:
    """Return a network and its optimizer."""
    network = Network(rngs=nnx.Rngs(seed))
    return network, nnx.Optimizer(network, optax.adam(1e-3), wrt=nnx.Param)


def build_in_parts(mesh: Mesh, seed: int) -> tuple[Network, nnx.Optimizer[Network]]:
    """Return both in parts. A compiled program makes them, so that no device ever holds them whole."""
    with jax.set_mesh(mesh):
        return nnx.jit(lambda: build(seed))()


@nnx.jit
def train_step(
    network: Network, optimizer: nnx.Optimizer[Network], x: jax.Array, y: jax.Array
) -> jax.Array:
    """Take a step, and return the mean squared error before it."""

    def loss_of(network: Network) -> jax.Array:
        return ((network(x) - y) ** 2).mean()

    loss: jax.Array
    loss, slopes = nnx.value_and_grad(loss_of)(network)
    optimizer.update(network, slopes)
    return loss


def batches(steps: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return inputs, float [batch, 16], and a function of theirs, float [batch, 1]."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(steps, ROWS, INPUTS)).astype(np.float32)
    return [(x, np.sin(x[:, :1]) * x[:, 1:2]) for x in inputs]


def train(steps: int, mesh: Mesh, seed: int = 0) -> tuple[Network, list[float]]:
    """Return a trained network, in parts over the mesh, and the losses of the steps."""
    network, optimizer = build_in_parts(mesh, seed)
    by_row = NamedSharding(mesh, P("data"))  # type: ignore[no-untyped-call]  # jax has no types for it
    losses = []
    for x, y in batches(steps, seed):
        rows = jax.device_put(x, by_row), jax.device_put(y, by_row)
        losses.append(train_step(network, optimizer, *rows))
    return network, [float(loss) for loss in losses]


def part_of_device(model: nnx.Module) -> float:
    """Return how much of the numbers of a model the first device holds, from 0 to 1."""
    arrays = jax.tree.leaves(nnx.state(model))
    here = sum(array.addressable_data(0).size for array in arrays)
    return float(here / sum(array.size for array in arrays))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on eight devices and on one, and print how the arrays were cut and what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args(arguments).steps
    # Read when jax is first used for an array; real accelerators take no notice of it.
    flag = f"--xla_force_host_platform_device_count={DEVICES}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()

    network, losses = train(steps, mesh_of(DEVICES))
    for path, spec in nnx.to_flat_state(nnx.get_partition_spec(nnx.state(network))):
        print(f"{'.'.join(map(str, path)):14} {spec.get_value()}")
    print(f"a device holds {part_of_device(network):.1%} of the network")
    _, alone = train(steps, mesh_of(1))
    print(f"squared error, first and last: {losses[0]:.4f}, {losses[-1]:.4f}")
    print(f"  on one device:               {alone[0]:.4f}, {alone[-1]:.4f}")


if __name__ == "__main__":
    main()
