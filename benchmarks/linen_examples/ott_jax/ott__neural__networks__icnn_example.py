"""Example calls for ott/neural/networks/icnn.py of ott_jax 0.6.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("ICNN", dim_data=8, dim_hidden=(8, 8)), wave(2, 8))]
