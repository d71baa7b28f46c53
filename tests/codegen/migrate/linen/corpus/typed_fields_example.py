"""Calls of the modules whose fields hold classes."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, Ref

X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)
EXAMPLES = [
    Example(Build("Features"), X),
    Example(Build("ValueOf"), X),
    Example(Build("ValueOf", extractor=Ref("Features")), X),
    Example(Build("OldTypes"), X),
    Example(Build("OldTypes", Ref("Features")), X),
    Example(Build("WideFeatures"), X),
    Example(Build("ValueOf", extractor=Ref("WideFeatures")), X),
]
