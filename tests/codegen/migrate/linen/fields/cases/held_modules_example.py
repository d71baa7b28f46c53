"""How the modules with modules in fields are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
TOKENS = jnp.arange(8).reshape(2, 4)
PART = Build("Part", 4)
DENSE = Build("flax.linen.Dense", 2)

EXAMPLES = [
    Example(Build("Headed"), X),
    Example(Build("Headed", PART), X),
    Example(Build("HeadedUser"), X),
    Example(Build("Encoded", Build("flax.linen.Embed", 9, 5)), TOKENS),
    Example(Build("EncodedUser"), TOKENS),
    Example(Build("Stack", (PART, nn.relu, DENSE)), X),
    Example(Build("StackUser"), X),
    Example(Build("StackInSetup"), X),
    Example(Build("Heads", {"a": PART, "b": DENSE}), X),
    Example(Build("Heads", {"a": DENSE}, [PART, Build("Part", 3)]), X),
    Example(Build("Wrapper", Build("flax.linen.Dense", 6)), X),
    Example(Build("WrapperUser"), X),
    Example(Build("WrapperInSetup", 6), X),
]
