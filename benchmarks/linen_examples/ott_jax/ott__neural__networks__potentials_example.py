"""Example calls for ott/neural/networks/potentials.py of ott_jax 0.6.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("PotentialMLP", dim_hidden=(8, 8)), wave(2, 8)),
    Example(Build("PotentialMLP", dim_hidden=(8, 8), is_potential=False), wave(2, 8)),
    Example(Build("MLP", dim_hidden=(8, 8)), wave(2, 8)),
]
