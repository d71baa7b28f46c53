"""Example calls for brax/training/spectral_norm.py of brax 0.14.2."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("SNDense", features=8), wave(2, 8), mutable=("sing_vec",), rngs=("sing_vec",)),
    Example(
        Build("SNDense", features=8, use_bias=False),
        wave(2, 8),
        mutable=("sing_vec",),
        rngs=("sing_vec",),
    ),
]
