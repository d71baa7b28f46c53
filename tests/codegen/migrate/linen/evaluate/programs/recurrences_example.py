import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

XS = jnp.linspace(-1, 1, 40).reshape(2, 4, 5)

EXAMPLES = [
    Example(Build("OverTime", 6), XS),
    Example(Build("InSetup"), XS),
    Example(Build("Decoder", 4), (jnp.ones((2, 4)), jnp.ones((2, 2))), XS),
    Example(Build("UsesDecoder"), XS),
    Example(Build("StatisticsOverTime"), XS),
    Example(Build("Records"), jnp.ones((4, 3)), (XS, jnp.zeros((2, 4), bool))),
]
