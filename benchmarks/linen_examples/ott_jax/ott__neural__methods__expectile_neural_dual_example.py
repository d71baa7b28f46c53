"""Example calls for ott/neural/methods/expectile_neural_dual.py of ott_jax 0.6.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("PotentialModelWrapper", model=Build("flax.linen.Dense", features=8)), wave(2, 8))
]
