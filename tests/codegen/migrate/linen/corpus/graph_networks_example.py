"""How the graph networks are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

NODES = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
EDGES = jnp.cos(jnp.arange(18.0)).reshape(6, 3)
SENDERS = jnp.array([0, 1, 2, 3, 0, 1])
RECEIVERS = jnp.array([1, 2, 3, 0, 2, 3])
GRAPH = Build("Graph", NODES, EDGES, SENDERS, RECEIVERS)

EXAMPLES = [
    Example(Build("MLP", (6, 3)), NODES),
    Example(Build("MLP", [3], nn.tanh, layer_norm=True), NODES),
    Example(Build("InteractionNetwork", 4), GRAPH),
    Example(Build("InteractionNetwork", 4, num_mlp_layers=2), GRAPH),
    Example(Build("EncodeProcessDecode", 4, 2, 3), GRAPH),
]
