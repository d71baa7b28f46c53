"""Calls of the modules whose fields hold classes."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, Ref

X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)
IMAGE = jnp.sin(jnp.arange(96.0)).reshape(2, 4, 4, 3)
EXAMPLES = [
    Example(Build("Features"), X),
    Example(Build("ValueOf"), X),
    Example(Build("ValueOf", extractor=Ref("Features")), X),
    Example(Build("OldTypes"), X),
    Example(Build("OldTypes", Ref("Features")), X),
    Example(Build("WideFeatures"), X),
    Example(Build("ValueOf", extractor=Ref("WideFeatures")), X),
    Example(Build("Window", 4), IMAGE),
    Example(Build("Pooled", (3, 3)), IMAGE),
    Example(Build("Pooled", (1, 2), groups=1), IMAGE, name="Pooled, one group"),
    Example(Build("OtherWindow"), X),
    Example(Build("Table", (3, 4))),
    Example(Build("ThreeExtractors"), X),
    Example(Build("ThreeExtractors", Ref("WideFeatures"), third=Ref("WideFeatures")), X),
    Example(Build("ThreeExtractors", second=Ref("WideFeatures")), X),
]
