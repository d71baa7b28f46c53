"""Example calls for dopamine/labs/moes/architectures/routers.py of dopamine_rl 4.1.2."""

import jax

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("RandomRouter", num_experts=3), wave(6, 8), key=jax.random.key(1)),
    Example(Build("TopKRouter", k=2, num_experts=3), wave(6, 8), key=jax.random.key(1)),
]
