"""Example calls for the modules of ott_jax 0.6.0, by file."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["ott/neural/methods/expectile_neural_dual.py"] = [
    Example(Build("PotentialModelWrapper", model=Build("flax.linen.Dense", features=8)), wave(2, 8))
]

EXAMPLES["ott/neural/networks/icnn.py"] = [
    Example(Build("ICNN", dim_data=8, dim_hidden=(8, 8)), wave(2, 8))
]

EXAMPLES["ott/neural/networks/layers/posdef.py"] = [
    Example(Build("PositiveDense", dim_hidden=8), wave(2, 8)),
    Example(Build("PositiveDense", dim_hidden=8, use_bias=False), wave(2, 8)),
    Example(Build("PosDefPotentials", num_potentials=8), wave(2, 8)),
    Example(Build("PosDefPotentials", num_potentials=8, use_linear=False), wave(2, 8)),
    Example(Build("PosDefPotentials", num_potentials=8, use_bias=False), wave(2, 8)),
]

EXAMPLES["ott/neural/networks/potentials.py"] = [
    Example(Build("PotentialMLP", dim_hidden=(8, 8)), wave(2, 8)),
    Example(Build("PotentialMLP", dim_hidden=(8, 8), is_potential=False), wave(2, 8)),
    Example(Build("MLP", dim_hidden=(8, 8)), wave(2, 8)),
]
