"""Example calls for ott/neural/networks/layers/posdef.py of ott_jax 0.6.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("PositiveDense", dim_hidden=8), wave(2, 8)),
    Example(Build("PositiveDense", dim_hidden=8, use_bias=False), wave(2, 8)),
    Example(Build("PosDefPotentials", num_potentials=8), wave(2, 8)),
    Example(Build("PosDefPotentials", num_potentials=8, use_linear=False), wave(2, 8)),
    Example(Build("PosDefPotentials", num_potentials=8, use_bias=False), wave(2, 8)),
]
