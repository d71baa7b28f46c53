"""Example calls for examples/ogbg_molpcba/models.py of flax 0.12.8."""

from typing import Any

import jax.numpy as jnp
import jraph  # type: ignore[import-not-found]  # only the sweep installs it

from typed_nnx_codegen.verify.examples import Build, Example, wave

GRAPHS = jraph.GraphsTuple(
    nodes=wave(5, 4),
    edges=wave(6, 3),
    globals=wave(2, 2),
    senders=jnp.array([0, 1, 2, 3, 4, 0]),
    receivers=jnp.array([1, 2, 0, 4, 3, 2]),
    n_node=jnp.array([3, 2]),
    n_edge=jnp.array([4, 2]),
)

SMALL: dict[str, Any] = {
    "latent_size": 8,
    "num_mlp_layers": 2,
    "message_passing_steps": 2,
    "output_globals_size": 3,
}

EXAMPLES = [
    Example(Build("MLP", feature_sizes=(8, 8)), wave(2, 8)),
    Example(Build("GraphNet", **SMALL), GRAPHS),
    Example(Build("GraphNet", **SMALL, layer_norm=False), GRAPHS),
    Example(
        Build("GraphNet", **SMALL, skip_connections=False, layer_norm=False), GRAPHS, name="plain"
    ),
    Example(Build("GraphConvNet", **SMALL), GRAPHS),
    Example(Build("GraphConvNet", **SMALL, layer_norm=False), GRAPHS),
]
