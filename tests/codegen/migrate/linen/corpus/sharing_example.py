"""How the modules that share are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TOKENS = jnp.arange(8).reshape(2, 4)

EXAMPLES = [
    Example(Build("UniversalTransformer", 3), SEQ),
    Example(Build("RecurrentLayer"), SEQ),
    Example(Build("TiedAutoencoder", 4), X),
    Example(Build("TiedLanguageModel", 9, 4), TOKENS),
    Example(Build("TiedLanguageModel", 9, 4, tie=False), TOKENS),
    Example(Build("DenseLoRA", Build("flax.linen.Dense", 5), 2), X),
    Example(Build("LoRAUser"), X),
    Example(Build("BorrowedScope", 4), X),
    Example(Build("MeanTeacher", 4), X),
    Example(Build("MemoizedBlocks", 5, 2), X),
]
