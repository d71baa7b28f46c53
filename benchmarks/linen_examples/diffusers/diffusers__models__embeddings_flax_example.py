"""Example calls for diffusers/models/embeddings_flax.py of diffusers 0.30.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("FlaxTimestepEmbedding"), wave(2, 8)),
    Example(Build("FlaxTimesteps"), wave(2)),
]
