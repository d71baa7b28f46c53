"""Example calls for netket/nn/masked_linear.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MaskedDense1D", features=8, exclusive=True), wave(2, 8)),
    Example(Build("MaskedDense1D", features=8, exclusive=True, use_bias=False), wave(2, 8)),
    Example(
        Build("MaskedConv1D", features=8, kernel_size=3, kernel_dilation=1, exclusive=True),
        wave(2, 8),
    ),
    Example(
        Build(
            "MaskedConv1D",
            features=8,
            kernel_size=3,
            kernel_dilation=1,
            exclusive=True,
            use_bias=False,
        ),
        wave(2, 8),
    ),
    Example(
        Build(
            "MaskedConv2D", features=8, kernel_size=(3, 3), kernel_dilation=(1, 1), exclusive=True
        ),
        wave(2, 16, 16, 3),
    ),
    Example(
        Build(
            "MaskedConv2D",
            features=8,
            kernel_size=(3, 3),
            kernel_dilation=(1, 1),
            exclusive=True,
            use_bias=False,
        ),
        wave(2, 16, 16, 3),
    ),
]
