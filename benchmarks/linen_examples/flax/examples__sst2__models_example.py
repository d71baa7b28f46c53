"""Example calls for examples/sst2/models.py of flax 0.12.8."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, wave


def tokens(*shape):
    """Return whole numbers from 0 to 4."""
    return jnp.arange(np.prod(shape, dtype=int)).reshape(shape) % 5


EXAMPLES = [
    Example(Build("WordDropout", dropout_rate=0.1, unk_idx=8), tokens(2, 6), deterministic=True),
    Example(Build("Embedder", vocab_size=11, embedding_size=8), tokens(2, 6), deterministic=True),
    Example(Build("SimpleLSTM", hidden_size=8), (wave(2, 8), wave(2, 8)), wave(2, 6, 5)),
    Example(Build("SimpleBiLSTM", hidden_size=8), wave(2, 6, 5), jnp.array([6, 4])),
    Example(Build("MLP", hidden_size=8, output_size=3), wave(2, 8), deterministic=True),
    Example(
        Build("MLP", hidden_size=8, output_size=3, output_bias=True), wave(2, 8), deterministic=True
    ),
    Example(Build("KeysOnlyMlpAttention", hidden_size=8), wave(2, 6, 8), jnp.ones((2, 6), bool)),
    Example(
        Build("AttentionClassifier", hidden_size=8, output_size=3, dropout_rate=0.1),
        wave(2, 6, 5),
        jnp.array([6, 4]),
        deterministic=True,
    ),
    Example(
        Build(
            "TextClassifier",
            embedding_size=8,
            hidden_size=8,
            vocab_size=11,
            output_size=3,
            dropout_rate=0.1,
            word_dropout_rate=0.1,
            unk_idx=1,
        ),
        tokens(2, 6),
        jnp.array([6, 4]),
        deterministic=True,
    ),
]
