"""Example calls for flaxmodels/stylegan2/ops.py of flaxmodels 0.1.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("LinearLayer", in_features=8, out_features=8), wave(2, 8)),
    Example(Build("LinearLayer", in_features=8, out_features=8, use_bias=False), wave(2, 8)),
]
