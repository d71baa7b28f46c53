"""Example calls for evosax/learned_eo/les_tools.py of evosax 0.1.6."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("AttentionWeights"), wave(2, 8)),
    Example(Build("EvoPathMLP"), wave(2, 8), wave(2, 8), wave(8)),
]
