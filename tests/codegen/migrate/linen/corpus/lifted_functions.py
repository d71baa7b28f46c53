"""Functions under lifted transforms, which are called with a module."""

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def in_chunks(layer, inputs, chunks, deterministic):
    """A function outside of the modules, which scans one of them."""
    inputs = inputs.reshape(inputs.shape[0], chunks, -1, inputs.shape[-1])

    def one_chunk(layer, carry, chunk):
        return carry, layer(chunk, deterministic)

    axis = inputs.ndim - 3
    _, outputs = nn.scan(
        one_chunk,
        variable_broadcast="params",
        split_rngs={"params": False, "dropout": True},
        in_axes=axis,
        out_axes=axis,
    )(layer, None, inputs)
    return outputs.reshape(outputs.shape[0], -1, outputs.shape[-1])


class FeedForward(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        x = nn.relu(nn.Dense(4 * self.features)(x))
        x = nn.Dropout(0.1)(x, deterministic=deterministic)
        return nn.Dense(self.features)(x)


class ChunkedBlock(nn.Module):
    features: int

    def setup(self):
        self.norm = nn.LayerNorm()
        self.ff = FeedForward(self.features)

    def __call__(self, x, deterministic: bool = True):
        return x + in_chunks(self.ff, self.norm(x), 2, deterministic)


class Cell(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, hidden):
        hidden = jnp.tanh(nn.Dense(self.features)(jnp.concatenate([x, hidden], -1)))
        return hidden, 2 * hidden


class ScanOfField(nn.Module):
    """The module that is scanned is a field, and the steps go backwards."""

    cell: nn.Module
    features: int

    @nn.compact
    def __call__(self, xs):
        xs = nn.Dense(3)(xs)

        def step(cell, hidden, x):
            return cell(x, hidden)

        scan = nn.scan(
            step,
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=1,
            out_axes=1,
            reverse=True,
        )
        hidden, ys = scan(self.cell, jnp.zeros((xs.shape[0], self.features)), xs)
        return ys, hidden


class RematOfParts(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        def first(module, x):
            kernel = module.param(
                "kernel", nn.initializers.normal(), (x.shape[-1], module.features)
            )
            return nn.Dense(module.features)(nn.tanh(x)) + x @ kernel

        @nn.remat
        def second(module, x):
            return nn.Dense(4)(x)

        x = second(self, nn.remat(first)(self, x))
        x = nn.jit(lambda module, x: nn.Dense(7)(x))(self, x)
        return nn.Dense(3)(x)


class StepsOfSelf(nn.Module):
    """Each step builds its parts in the module itself, which all steps share."""

    features: int

    @nn.compact
    def __call__(self, x, train: bool = False):
        def step(module, hidden, x):
            hidden = nn.Dense(module.features, name="cell")(jnp.concatenate([hidden, x], -1))
            hidden = nn.Dropout(0.5, deterministic=not train)(hidden)
            if train:
                hidden += jax.random.normal(module.make_rng("noise"), hidden.shape)
            return hidden, hidden

        hidden = jnp.zeros((x.shape[0], self.features))
        hidden, ys = nn.scan(
            step,
            variable_broadcast="params",
            split_rngs={"params": False, "dropout": True, "noise": True},
            in_axes=1,
            out_axes=1,
        )(self, hidden, x)
        return nn.Dense(2)(ys), hidden


class Decoder(nn.Module):
    steps: int

    @nn.compact
    def __call__(self, x):
        def step(module, token, _):
            token = nn.Dense(module.steps)(token)
            return token, token

        x = nn.Dense(self.steps)(x)
        return nn.scan(
            step, variable_broadcast="params", split_rngs={"params": False}, length=self.steps
        )(self, x, None)


class CarriedStatistics(nn.Module):
    train: bool = True

    def setup(self):
        self.norm = nn.BatchNorm(use_running_average=not self.train)

    def __call__(self, x):
        def step(norm, total, x):
            x = norm(x)
            return total + x, x

        first = self.norm(x[0])
        scan = nn.scan(
            step,
            variable_broadcast="params",
            variable_carry="batch_stats",
            split_rngs={"params": False},
        )
        return scan(self.norm, jnp.zeros_like(first), x)


SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
CELL = Build("Cell", 5)

EXAMPLES = [
    Example(Build("FeedForward", 6), SEQ),
    Example(Build("ChunkedBlock", 6), SEQ),
    Example(CELL, SEQ, SEQ[..., :5]),
    Example(Build("ScanOfField", CELL, 5), SEQ),
    Example(Build("RematOfParts", 5), SEQ),
    Example(Build("StepsOfSelf", 5), SEQ),
    Example(Build("Decoder", 3), SEQ),
    Example(Build("CarriedStatistics"), SEQ, mutable=("batch_stats",)),
]
