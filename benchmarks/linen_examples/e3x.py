"""Example calls for the modules of e3x 1.0.2, by file."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}


def tokens(*shape):
    """Return whole numbers from 0 to 4."""
    return jnp.arange(np.prod(shape, dtype=int)).reshape(shape) % 5


MESSAGE_PASS_OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_basis_bias": True},
    {"include_pseudotensors": False},
]

MULTI_HEAD_ATTENTION_OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_basis_bias": True},
    {"include_pseudotensors": False},
]

SELF_ATTENTION_OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_basis_bias": True},
    {"include_pseudotensors": False},
]

EXAMPLES["e3x/nn/modules.py"] = [
    Example(Build("Embed", num_embeddings=5, features=8), tokens(5)),
    Example(Build("Dense", features=6), wave(3, 1, 4, 8)),
    Example(Build("Dense", features=6, use_bias=False), wave(3, 1, 4, 8)),
    Example(Build("FusedTensor", max_degree=1), wave(3, 1, 4, 8), wave(3, 1, 4, 8)),
    Example(Build("TensorDense", features=6, max_degree=1), wave(3, 1, 4, 8)),
    Example(Build("TensorDense", features=6, max_degree=1, use_bias=False), wave(3, 1, 4, 8)),
    *(
        Example(
            Build("MessagePass", **other),
            wave(3, 1, 4, 8),
            wave(5, 1, 4, 6),
            dst_idx=jnp.array([0, 1, 2, 0, 1]),
            src_idx=jnp.array([1, 2, 0, 2, 0]),
            num_segments=3,
        )
        for other in MESSAGE_PASS_OPTIONS
    ),
    *(
        Example(
            Build("MultiHeadAttention", **other),
            wave(3, 1, 4, 8),
            wave(3, 1, 4, 8),
            wave(5, 1, 4, 6),
            dst_idx=jnp.array([0, 1, 2, 0, 1]),
            src_idx=jnp.array([1, 2, 0, 2, 0]),
            num_segments=3,
        )
        for other in MULTI_HEAD_ATTENTION_OPTIONS
    ),
    *(
        Example(
            Build("SelfAttention", **other),
            wave(3, 1, 4, 8),
            wave(5, 1, 4, 6),
            dst_idx=jnp.array([0, 1, 2, 0, 1]),
            src_idx=jnp.array([1, 2, 0, 2, 0]),
            num_segments=3,
        )
        for other in SELF_ATTENTION_OPTIONS
    ),
]
