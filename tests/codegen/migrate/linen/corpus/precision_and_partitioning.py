"""Dtypes, initializers and partitioned parameters."""

from typing import Any, Optional

import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning

from typed_nnx_codegen.verify.examples import Build, Example

Dtype = Any
param_with_axes = nn_partitioning.param_with_axes


def constant(value):
    def init(key, shape, dtype=jnp.float32):
        return jnp.full(shape, value, dtype)

    return init


class PartitionedScan(nn.Module):
    """Stacked layers that name the axis of the stack."""

    depth: int

    @nn.compact
    def __call__(self, x):
        stack = nn.scan(
            PartitionedLayer,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=self.depth,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )
        return stack(name="layers")(x, None)[0]


class PartitionedLayer(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        init = nn.with_partitioning(nn.initializers.lecun_normal(), ("embed", None))
        return nn.tanh(nn.Dense(x.shape[-1], kernel_init=init)(x)), None


class LogicalEmbed(nn.Module):
    vocab: int
    features: int
    mesh: Optional[Any] = None

    def setup(self):
        self.embedding = self.param(
            "embedding",
            nn.with_logical_partitioning(nn.initializers.normal(1.0), ("vocab", "embed")),
            (self.vocab, self.features),
        )

    def __call__(self, tokens):
        return jnp.take(self.embedding, tokens, axis=0)

    def attend(self, query):
        return jnp.dot(query, self.embedding.T)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
TOKENS = jnp.arange(6).reshape(2, 3)

EXAMPLES = [
    Example(Build("PartitionedScan", 2), X),
    Example(Build("PartitionedLayer"), X, None),
    Example(Build("LogicalEmbed", 9, 4), TOKENS),
    Example(Build("LogicalEmbed", 9, 4), X[:, :4], method="attend"),
]
