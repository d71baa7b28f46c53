"""Example calls for fortuna/model/mlp.py of aws_fortuna 0.2.0."""

import jax

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MLP", output_dim=3), wave(2, 8)),
    Example(Build("DeepResidualNet", output_dim=3), wave(2, 8)),
    Example(
        Build(
            "MLPDeepFeatureExtractorSubNet", widths=(8, 8), activations=(jax.nn.relu, jax.nn.tanh)
        ),
        wave(2, 8),
    ),
    Example(
        Build(
            "DeepResidualFeatureExtractorSubNet",
            widths=(8, 8),
            activations=(jax.nn.relu, jax.nn.tanh),
        ),
        wave(2, 8),
    ),
    Example(Build("MLPOutputSubNet", output_dim=3), wave(2, 8)),
]
