"""Networks over nodes and edges."""

from typing import Callable, NamedTuple, Optional, Sequence, Tuple

import jax
import jax.numpy as jnp
from flax import linen as nn


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


class GraphConv(nn.Module):
    features: int
    use_bias: bool = True

    @nn.compact
    def __call__(self, nodes, adjacency):
        degree = adjacency.sum(-1, keepdims=True)
        nodes = nn.Dense(self.features, use_bias=self.use_bias)(nodes)
        return (adjacency @ nodes) / jnp.maximum(degree, 1.0)


class GraphAttention(nn.Module):
    c_out: int
    num_heads: int = 2
    concat_heads: bool = True

    def setup(self):
        if self.concat_heads:
            c_per_head = self.c_out // self.num_heads
        else:
            c_per_head = self.c_out
        self.projection = nn.Dense(c_per_head * self.num_heads)
        self.a = self.param("a", nn.initializers.glorot_uniform(), (self.num_heads, 2 * c_per_head))

    def __call__(self, node_feats, adj_matrix):
        batch_size, num_nodes = node_feats.shape[0], node_feats.shape[1]
        h = self.projection(node_feats)
        h = h.reshape((batch_size, num_nodes, self.num_heads, -1))
        c = h.shape[-1]
        left = (h * self.a[None, None, :, :c]).sum(axis=-1)
        right = (h * self.a[None, None, :, c:]).sum(axis=-1)
        logits = nn.leaky_relu(left[:, :, None, :] + right[:, None, :, :], negative_slope=0.2)
        logits = jnp.where(adj_matrix[..., None] == 1.0, logits, -9e15)
        probs = nn.softmax(logits, axis=2)
        out = jnp.einsum("bijh,bjhc->bihc", probs, h)
        if self.concat_heads:
            return out.reshape(batch_size, num_nodes, -1)
        return out.mean(axis=2)


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


class EquivariantLayer(nn.Module):
    """Moves coordinates along their differences."""

    hidden: int
    residual: bool = True

    @nn.compact
    def __call__(self, h, x, senders, receivers) -> Tuple[jnp.ndarray, jnp.ndarray]:
        diff = x[receivers] - x[senders]
        dist = (diff**2).sum(-1, keepdims=True)
        message = jnp.concatenate([h[receivers], h[senders], dist], axis=-1)
        message = nn.silu(nn.Dense(self.hidden)(nn.silu(nn.Dense(self.hidden)(message))))
        gate = nn.Dense(1, use_bias=False)(nn.silu(nn.Dense(self.hidden)(message)))
        x = x + jax.ops.segment_sum(diff * gate, receivers, x.shape[0])
        m = jax.ops.segment_sum(message, receivers, h.shape[0])
        update = nn.silu(nn.Dense(self.hidden)(jnp.concatenate([h, m], axis=-1)))
        update = nn.Dense(h.shape[-1])(update)
        return (h + update if self.residual else update), x


class DeepSet(nn.Module):
    """Sums over a set between two networks given as fields."""

    phi: nn.Module
    rho: nn.Module
    weights: Optional[jnp.ndarray] = None

    def __call__(self, x):
        h = self.phi(x)
        if self.weights is not None:
            h = h * self.weights[:, None]
        return self.rho(h.sum(axis=-2))


class SchNetFilter(nn.Module):
    """Radial basis functions with a cutoff."""

    n_basis: int
    cutoff: float
    features: int

    def setup(self):
        self.centres = jnp.linspace(0.0, self.cutoff, self.n_basis)
        self.filter_net = nn.Sequential(
            [nn.Dense(self.features), nn.softplus, nn.Dense(self.features)]
        )
        self.in2f = nn.Dense(self.features, use_bias=False)

    def __call__(self, h, distances, senders, receivers):
        rbf = jnp.exp(-10.0 * (distances[:, None] - self.centres) ** 2)
        w = self.filter_net(rbf)
        return jax.ops.segment_sum(self.in2f(h)[senders] * w, receivers, h.shape[0])
