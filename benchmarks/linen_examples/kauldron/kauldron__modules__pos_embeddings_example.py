"""Example calls for kauldron/modules/pos_embeddings.py of kauldron 1.4.2."""

from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("FourierEmbedding", num_fourier_bases=4), (2, 4, 6, 8), axis=(-3, -2)),
    Example(Build("LearnedEmbedding"), (2, 16, 8), axis=-2),
]
