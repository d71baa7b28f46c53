"""How the modules with classes in tables are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("FromDict"), X),
    Example(Build("FromDict", "relu"), X),
    Example(Build("NormFromDict"), X),
    Example(Build("NormFromDict", "rms"), X),
    Example(Build("NormFromGlobal"), X),
    Example(Build("NormFromGlobal", "rms"), X),
    Example(Build("NormInSetup"), X),
    Example(Build("NormInSetup", "rms"), X),
    Example(Build("ActFromDict"), X),
    Example(Build("ActFromDict", "gelu"), X),
    Example(Build("FirstOfTwo"), X),
    Example(Build("FirstOfTwo", ("rms", "layer")), X),
]
