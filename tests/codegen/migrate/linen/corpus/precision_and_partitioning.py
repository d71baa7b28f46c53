"""Dtypes, initializers and partitioned parameters."""

from typing import Any, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning

from typed_nnx_codegen.verify.examples import Build, Example

Dtype = Any
param_with_axes = nn_partitioning.param_with_axes


class PromotedTypes(nn.Module):
    """Layers without dtype follow what they get."""

    @nn.compact
    def __call__(self, x, tokens):
        e = nn.Embed(7, 4, dtype=jnp.bfloat16)(tokens)
        y = nn.Dense(4)(e)
        z = nn.Conv(3, (2,), dtype=jnp.bfloat16)(y)
        return nn.Dense(2)(x.astype(jnp.bfloat16)), z


class Initializers(nn.Module):
    """Initializers in all their spellings."""

    scale: float = 1.0

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, kernel_init=jax.nn.initializers.glorot_normal(), bias_init=constant(0.5))(x)
        x = nn.Dense(
            features=5,
            kernel_init=nn.initializers.variance_scaling(self.scale, "fan_in", "truncated_normal"),
            bias_init=lambda key, shape, dtype: jnp.full(shape, 0.1, dtype),
        )(x)
        x = nn.LayerNorm(epsilon=1e-5, scale_init=nn.initializers.constant(0.9))(x)
        return nn.Dense(3, kernel_init=nn.zeros_init(), bias_init=nn.ones_init())(x)


def constant(value):
    def init(key, shape, dtype=jnp.float32):
        return jnp.full(shape, value, dtype)

    return init


class Partitioned(nn.Module):
    """Logical names of axes on kernels and on own parameters."""

    mlp_dim: int
    dtype: Dtype = jnp.float32

    @nn.compact
    def __call__(self, x):
        init = nn.initializers.lecun_normal()
        x = nn.Dense(
            self.mlp_dim,
            dtype=self.dtype,
            kernel_init=nn.with_logical_partitioning(init, ("embed", "mlp")),
            bias_init=nn.with_logical_partitioning(nn.initializers.zeros_init(), ("mlp",)),
        )(x)
        x = nn.with_logical_constraint(x, ("batch", "length", "mlp"))
        scale = self.param(
            "scale", nn.with_logical_partitioning(nn.initializers.ones, ("mlp",)), (x.shape[-1],)
        )
        return nn.Dense(3, kernel_init=nn.with_partitioning(init, (None, "model")))(x * scale)


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
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TOKENS = jnp.arange(6).reshape(2, 3)

EXAMPLES = [
    Example(Build("PromotedTypes"), X, TOKENS),
    Example(Build("Initializers", scale=0.5), X),
    Example(Build("Partitioned", 4), SEQ),
    Example(Build("PartitionedScan", 2), X),
    Example(Build("PartitionedLayer"), X, None),
    Example(Build("LogicalEmbed", 9, 4), TOKENS),
    Example(Build("LogicalEmbed", 9, 4), X[:, :4], method="attend"),
]
