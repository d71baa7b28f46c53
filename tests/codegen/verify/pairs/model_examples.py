"""Calls of the models of linen_models.py."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

ROWS = jax.random.normal(jax.random.key(0), (2, 5))
IMAGES = jax.random.normal(jax.random.key(1), (2, 6, 6, 3))
TOKENS = jnp.array([[1, 2, 3], [0, 4, 2]])

EXAMPLES = [
    Example(Build("MLP", features=(8, 6, 4)), ROWS),
    Example(Build("MLP", (8, 4), act=Build.ref("squared")), ROWS, name="own activation"),
    Example(Build("MLP", (8, 4), act=Build.ref("jax.nn.gelu")), ROWS, name="gelu"),
    Example(Build("ConvNet", 3), IMAGES),
    Example(
        Build("ConvNet", 3), IMAGES, train=True, mutable="batch_stats", name="ConvNet training"
    ),
    Example(Build("Reader", 5, 4), TOKENS),
    Example(Build("Reader", 5, 4), TOKENS, method="embedded", name="Reader.embedded"),
    Example(Build("Deep", 5, depth=3), ROWS),
    Example(Build("Scaled"), ROWS, mutable=("counters",)),
    Example(Build("Noisy"), ROWS, rngs=("dropout",)),
    Example(Build("Noisy"), ROWS, deterministic=True, name="Noisy deterministic"),
    Example(
        Build(
            "Wrapper",
            inner=Build("MLP", features=(3, 2)),
            others=[
                Build("MLP", (4,)),
                Build("flax.linen.Dense", 3),
                Build("flax.linen.LayerNorm"),
            ],
        ),
        ROWS,
    ),
    Example(Build("Encoder"), {"image": jax.ShapeDtypeStruct((2, 3), jnp.float32)}),
    Example(
        Build("Encoder"),
        {"image": ROWS},
        mutable=["intermediates"],
        name="Encoder with sown values",
    ),
    Example(Build("Memory"), jnp.stack([ROWS, ROWS + 1], 1)),
    Example(Build("Branches"), ROWS),
    Example(Build("Branches"), ROWS, extra=True, name="both branches"),
    Example(Build("Collects"), ROWS, {}, name="a dict that the call writes to"),
    Example(Build("ByMode"), ROWS, name="ByMode in evaluation"),
    Example(Build("ByMode"), ROWS, mutable="batch_stats", name="ByMode in training"),
]
