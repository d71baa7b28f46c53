"""Example calls for examples/linen_design_test/dense.py of flax 0.12.8."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("Dense", features=8), wave(2, 8)),
    Example(Build("Dense", features=8, use_bias=False), wave(2, 8)),
]
