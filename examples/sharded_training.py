"""A transformer trained over data and model axes, stopped and resumed with the same losses.

Run ``python -m examples.sharded_training``. Of eight devices two share the rows of a batch and four
the heads and hidden units of each layer. The program trains, forgets everything, restores the last
checkpoint and trains on: each loss is that of a run which was never stopped, bit for bit. On a
machine without eight accelerators the CPU counts as eight devices.

Source: Shoeybi et al., "Megatron-LM: training multi-billion parameter language models using model
parallelism", https://arxiv.org/abs/1909.08053.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from typed_nnx.training.checkpoint import CheckpointManager

DATA, MODEL = 2, 4
WIDTH, HEADS, DEPTH = 64, 4, 2
KINDS, LENGTH, ROWS = 16, 24, 16  # of tokens, of a sequence, of a batch


class Block(nnx.Module):
    """A layer of a transformer, cut by heads and by hidden units: float [batch, length, width]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.attention_norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(
            HEADS,
            WIDTH,
            decode=False,
            kernel_metadata={"out_sharding": (None, "model", None)},
            bias_metadata={"out_sharding": ("model", None)},
            out_kernel_metadata={"out_sharding": ("model", None, None)},
            rngs=rngs,
        )
        self.mlp_norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(
            WIDTH, 4 * WIDTH, kernel_metadata={"out_sharding": (None, "model")}, rngs=rngs
        )
        self.down = nnx.Linear(
            4 * WIDTH, WIDTH, kernel_metadata={"out_sharding": ("model", None)}, rngs=rngs
        )
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x: jax.Array, mask: jax.Array) -> jax.Array:
        x = x + self.attention(self.attention_norm(x), mask=mask)
        return x + self.dropout(self.down(nnx.gelu(self.up(self.mlp_norm(x)))))


class Transformer(nnx.Module):
    """Maps tokens, int [batch, length], to logits of the next, float [batch, length, kinds]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.tokens = nnx.Embed(KINDS, WIDTH, rngs=rngs)
        self.positions = nnx.Embed(LENGTH, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(rngs=rngs) for _ in range(DEPTH)])
        self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.head = nnx.Linear(WIDTH, KINDS, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = self.tokens(tokens) + self.positions(jnp.arange(tokens.shape[1]))[None]
        mask = nnx.make_causal_mask(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def mesh_of(data: int = DATA, model: int = MODEL) -> Mesh:
    """Return devices in a grid."""
    devices = jax.devices()[: data * model]
    return jax.make_mesh((data, model), ("data", "model"), (AxisType.Auto,) * 2, devices=devices)


@nnx.jit
def build() -> tuple[Transformer, nnx.Optimizer[Transformer]]:
    """Return a model and its optimizer. It is compiled, so that no device ever holds all of them."""
    model = Transformer(rngs=nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)


def train_step(
    model: Transformer, optimizer: nnx.Optimizer[Transformer], tokens: jax.Array
) -> jax.Array:
    """Take a step on sequences, int [batch, length + 1], and return the loss before it."""

    def loss_of(model: Transformer) -> jax.Array:
        losses: jax.Array = optax.softmax_cross_entropy_with_integer_labels(
            model(tokens[:, :-1]), tokens[:, 1:]
        )
        return losses.mean()

    loss, grads = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, grads)
    return loss


def batch(step: int) -> np.ndarray:
    """Return the sequences of a step, int32 [batch, length + 1]: they count, each by a pace of its own."""
    rng = np.random.default_rng(step)  # the step decides: a run that resumes reads on
    first, pace = rng.integers(0, KINDS, (2, ROWS, 1))
    return np.asarray((first + pace * np.arange(LENGTH + 1)) % KINDS, np.int32)


Step: TypeAlias = nnx.JitWrapped[[Transformer, nnx.Optimizer[Transformer], jax.Array], jax.Array]
"""A compiled `train_step`."""


def pinned_step(
    model: Transformer, optimizer: nnx.Optimizer[Transformer], rows: NamedSharding
) -> Step:
    """Return the step for arrays that lie where those of a model and its optimizer do, and stay there.

    Without shardings the compiler chooses where arrays lie that come out of the step. Biases that were
    whole on each device are in parts after step 1, and step 2 is compiled once more.
    """

    def where(node: nnx.Pytree) -> nnx.StateSharding:
        return nnx.StateSharding(jax.tree.map(lambda array: array.sharding, nnx.state(node)))

    shardings = (where(model), where(optimizer), rows)
    return nnx.jit(train_step, in_shardings=shardings, donate_argnums=(0, 1))


def train(
    step: Step,
    model: Transformer,
    optimizer: nnx.Optimizer[Transformer],
    steps: range,
    rows: NamedSharding,
) -> list[float]:
    """Return the losses of the steps. Reading each waits for it: CPUs want one step in flight."""
    return [float(step(model, optimizer, jax.device_put(batch(number), rows))) for number in steps]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train with a stop in the middle and without, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args(arguments).steps
    # Read when jax is first used for an array; real accelerators take no notice of it.
    flag = f"--xla_force_host_platform_device_count={DATA * MODEL}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()

    mesh = mesh_of()
    rows = NamedSharding(mesh, P("data"))  # type: ignore[no-untyped-call]  # jax has no types for it
    with jax.set_mesh(mesh):
        model, optimizer = build()
    step = pinned_step(model, optimizer, rows)
    whole = train(step, model, optimizer, range(steps), rows)
    for path, leaf in nnx.to_flat_state(nnx.state(model.blocks[0], nnx.Param)):
        sharding = leaf[...].sharding
        assert isinstance(sharding, NamedSharding)
        print(f"{'.'.join(map(str, path)):24} {sharding.spec}")
    print(f"loss, first and last: {whole[0]:.4f}, {whole[-1]:.4f}")

    stop = steps // 2
    with tempfile.TemporaryDirectory() as folder:
        with CheckpointManager(folder) as manager, jax.set_mesh(mesh):
            model, optimizer = build()
            losses = train(step, model, optimizer, range(stop), rows)
            manager.save(stop, (model, optimizer))
        with CheckpointManager(folder) as manager, jax.set_mesh(mesh):  # in another process, say
            model, optimizer = build()
            first = manager.restore((model, optimizer))  # each array goes where it lies
            losses += train(step, model, optimizer, range(first, steps), rows)
    print(f"stopped after {stop} steps and resumed, with equal losses: {losses == whole}")


if __name__ == "__main__":
    main()
