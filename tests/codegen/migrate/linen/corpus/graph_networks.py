"""Networks over nodes and edges."""

from typing import Callable, NamedTuple, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Graph(NamedTuple):
    nodes: jnp.ndarray
    edges: jnp.ndarray
    senders: jnp.ndarray
    receivers: jnp.ndarray


class MLP(nn.Module):
    feature_sizes: Sequence[int]
    activation: Callable[[jnp.ndarray], jnp.ndarray] = nn.relu
    layer_norm: bool = False

    @nn.compact
    def __call__(self, inputs):
        x = inputs
        for size in self.feature_sizes[:-1]:
            x = self.activation(nn.Dense(features=size)(x))
        x = nn.Dense(features=self.feature_sizes[-1])(x)
        if self.layer_norm:
            x = nn.LayerNorm()(x)
        return x


class InteractionNetwork(nn.Module):
    """Edges from both ends, then nodes from their edges."""

    latent_size: int
    num_mlp_layers: int = 1

    @nn.compact
    def __call__(self, graph: Graph) -> Graph:
        sizes = [self.latent_size] * self.num_mlp_layers
        sent = graph.nodes[graph.senders]
        received = graph.nodes[graph.receivers]
        edges = MLP(sizes, layer_norm=True, name="edge_fn")(
            jnp.concatenate([graph.edges, sent, received], axis=-1)
        )
        gathered = jax.ops.segment_sum(edges, graph.receivers, graph.nodes.shape[0])
        nodes = MLP(sizes, layer_norm=True, name="node_fn")(
            jnp.concatenate([graph.nodes, gathered], axis=-1)
        )
        return graph._replace(nodes=nodes, edges=edges)


class EncodeProcessDecode(nn.Module):
    latent_size: int
    steps: int
    output_size: int

    @nn.compact
    def __call__(self, graph: Graph):
        graph = graph._replace(
            nodes=nn.Dense(self.latent_size, name="embed_nodes")(graph.nodes),
            edges=nn.Dense(self.latent_size, name="embed_edges")(graph.edges),
        )
        for _ in range(self.steps):
            updated = InteractionNetwork(self.latent_size)(graph)
            graph = graph._replace(
                nodes=graph.nodes + updated.nodes, edges=graph.edges + updated.edges
            )
        return nn.Dense(self.output_size, name="decode")(graph.nodes)


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
