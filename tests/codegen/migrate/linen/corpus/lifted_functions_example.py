"""How the modules with functions under transforms are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
CELL = Build("Cell", 5)

EXAMPLES = [
    Example(Build("FeedForward", 6), SEQ),
    Example(Build("ChunkedBlock", 6), SEQ),
    Example(CELL, SEQ, SEQ[..., :5]),
    Example(Build("ScanOfField", CELL, 5), SEQ),
    Example(Build("RematOfParts", 5), SEQ),
    Example(Build("StepsOfSelf", 5), SEQ),
    Example(Build("Decoder", 3), SEQ),
    Example(Build("CarriedStatistics"), SEQ, mutable=("batch_stats",)),
]
