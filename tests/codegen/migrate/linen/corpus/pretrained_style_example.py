"""Example calls for pretrained_style.py."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example

TOKENS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])
X = jnp.sin(jnp.arange(np.prod((2, 5, 6)), dtype=jnp.float32) + 1).reshape(2, 5, 6)


def config(**settings):
    """Return a small configuration."""
    return Build("LanguageConfig", **settings)


EXAMPLES = [
    Example(Build("CallMadeCache", config()), X),
    Example(Build("CallMadeCache", config()), X, init_cache=True, mutable=("cache",)),
    Example(Build("CallMadeCache", config(), causal=False), X),
    Example(Build("PretrainedLayer", config()), X, output_inner=True),
    Example(Build("PretrainedLayers", config()), X),
    Example(Build("PretrainedLayers", config()), X, output_every=True, return_dict=False),
    Example(Build("PretrainedLayers", config()), X, init_cache=True, mutable=("cache",)),
    Example(Build("SharedLayers", config()), X),
    Example(Build("PretrainedBody", config()), TOKENS),
    Example(Build("PretrainedBody", config(pooled=False)), TOKENS),
    Example(Build("TiedHead", config()), X),
    Example(Build("TiedHead", config()), X, jnp.sin(jnp.arange(66.0)).reshape(11, 6)),
    Example(Build("TiedLanguageModel", config()), TOKENS),
    Example(Build("TiedLanguageModel", config(tied=False)), TOKENS, return_dict=False),
    Example(Build("TiedLanguageModel", config()), TOKENS, init_cache=True, mutable=("cache",)),
    Example(Build("DecoderByConfig", config()), TOKENS),
    Example(Build("DecoderByConfig", config(tied=False)), TOKENS),
    Example(Build("FirstSeen"), X),
    Example(Build("FunctionalWholeTree", 4), X[:, 0]),
    Example(Build("TableDecoder", config()), X, jnp.sin(jnp.arange(66.0)).reshape(6, 11)),
]
