"""How the graph networks are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

NODES = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
EDGES = jnp.cos(jnp.arange(18.0)).reshape(6, 3)
SENDERS = jnp.array([0, 1, 2, 3, 0, 1])
RECEIVERS = jnp.array([1, 2, 3, 0, 2, 3])
POINTS = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
ADJACENCY = jnp.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]], jnp.float32)
GRAPH = Build("Graph", NODES, EDGES, SENDERS, RECEIVERS)

EXAMPLES = [
    Example(Build("MLP", (6, 3)), NODES),
    Example(Build("MLP", [3], nn.tanh, layer_norm=True), NODES),
    Example(Build("GraphConv", 3), NODES, ADJACENCY),
    Example(Build("GraphConv", 3, use_bias=False), NODES[None], ADJACENCY[None]),
    Example(Build("GraphAttention", 6), NODES[None], ADJACENCY[None]),
    Example(Build("GraphAttention", 6, 3, concat_heads=False), NODES[None], ADJACENCY[None]),
    Example(Build("InteractionNetwork", 4), GRAPH),
    Example(Build("InteractionNetwork", 4, num_mlp_layers=2), GRAPH),
    Example(Build("EncodeProcessDecode", 4, 2, 3), GRAPH),
    Example(Build("EquivariantLayer", 4), NODES, POINTS, SENDERS, RECEIVERS),
    Example(Build("EquivariantLayer", 4, residual=False), NODES, POINTS, SENDERS, RECEIVERS),
    Example(Build("DeepSet", Build("MLP", (6, 4)), Build("flax.linen.Dense", 3)), NODES[None]),
    Example(Build("SchNetFilter", 7, 2.0, 4), NODES, jnp.linspace(0.1, 1.9, 6), SENDERS, RECEIVERS),
]
