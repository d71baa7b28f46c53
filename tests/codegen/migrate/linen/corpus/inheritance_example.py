"""How the modules that inherit are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("PolicyNetwork"), X),
    Example(Build("PolicyNetwork", 4, nn.tanh, actions=2), X),
    Example(Build("QNetwork"), X, X[:, :2]),
    Example(Build("DenseEncoder", 3), X),
    Example(Build("ConvEncoder", output_size=3), IMAGES),
    Example(Build("SetupBase", 4), X),
    Example(Build("SetupChild", 4), X),
    Example(Build("SetupChild", 4, out=3), X),
    Example(Build("CompactBase"), X),
    Example(Build("CompactChild"), X),
    Example(Build("CompactGrandchild"), X),
    Example(Build("MixinUser", 4), X),
    Example(Build("MixinReplacer"), X),
    Example(Build("PostInit", 4), X),
    Example(Build("PostInit", 4, hidden=3), X),
    Example(Build("PostInitChecks", (2, 3)), X),
    Example(Build("ExtendedDense", 4, gain=0.5), X),
    Example(Build("ExtendedUser"), X),
    Example(Build("LoopBase", (4, 3)), X),
    Example(Build("LoopChild", (4, 3)), X),
]
