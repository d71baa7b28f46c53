"""How the modules that apply modules are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(24.0)).reshape(4, 6)
CONTEXT = jnp.cos(jnp.arange(12.0)).reshape(4, 3)
SEQ = jnp.sin(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("HyperNetwork", 5, 2), X, CONTEXT),
    Example(Build("FunctionalTarget"), X, CONTEXT[0]),
    Example(Build("ParamOfModule", 4), X),
    Example(Build("RandomPrior", 4), X),
    Example(Build("BatchEnsemble", 5, 2), X),
    Example(Build("MixtureOfExperts", 3, 4), X),
    Example(Build("MixtureOfExperts", 3, 4), SEQ, mutable=("intermediates",)),
    Example(Build("DeepEnsemble", 3, (4, 5)), X),
    Example(Build("GaussianMixture", 3, 2), X),
    Example(Build("DiagonalStateSpace", 4), SEQ),
    Example(Build("ConformerConv"), SEQ, jnp.ones((2, 5))),
    Example(Build("ConformerConv", 5), SEQ, jnp.ones((2, 5)), train=True, mutable=("batch_stats",)),
    Example(Build("CausalWaveNet", 4), SEQ),
    Example(Build("SpectralConv", 2), SEQ),
]
