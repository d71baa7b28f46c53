"""Example calls for netket/_src/nn/freeze/linen.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("FreezeLinenWrapper", model=Build("flax.linen.Dense", features=8)), wave(2, 8))
]
