"""Example calls for kauldron/metrics/lpips.py of kauldron 1.4.2."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("_LpipsVgg"), wave(2, 16, 16, 3), wave(2, 16, 16, 3)[::-1]),
    Example(Build("VggNet"), wave(2, 16, 16, 3)),
    Example(Build("VggBlock", num_features=6, num_layers=2), wave(2, 8, 8, 3)),
]
