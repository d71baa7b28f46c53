"""Example calls for examples/linen_design_test/attention_simple.py of flax 0.12.8."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("Dense", features=8), wave(2, 8)),
    Example(Build("Dense", features=8, use_bias=False), wave(2, 8)),
    Example(Build("SoftmaxAttn"), wave(6, 5)),
    Example(Build("Dropout", rate=0.1), wave(2, 8), deterministic=True),
    Example(Build("SoftmaxAttnWDropout"), wave(6, 5)),
    Example(Build("RawDotProductAttention"), wave(6, 8), wave(5, 8), wave(5, 8)),
    Example(Build("DotProductAttention"), wave(6, 8), wave(5, 8)),
]
