"""Example calls for netket/nn/fast_masked_linear.py of netket 3.23.0."""

from typing import Any

from typed_nnx_codegen.verify.examples import Build, Example, wave

CONV_2D: dict[str, Any] = {
    "L": 8,
    "features": 8,
    "kernel_size": (3, 3),
    "kernel_dilation": (1, 1),
    "exclusive": True,
}

EXAMPLES = [
    Example(Build("FastMaskedDense1D", size=8, features=8, exclusive=True), wave(2, 8)),
    Example(
        Build("FastMaskedDense1D", size=8, features=8, exclusive=True, use_bias=False), wave(2, 8)
    ),
    Example(
        Build("FastMaskedConv1D", features=8, kernel_size=3, kernel_dilation=1, exclusive=True),
        wave(2, 8),
    ),
    Example(
        Build(
            "FastMaskedConv1D",
            features=8,
            kernel_size=3,
            kernel_dilation=1,
            exclusive=True,
            use_bias=False,
        ),
        wave(2, 8),
    ),
    Example(Build("FastMaskedConv2D", **CONV_2D), wave(2, 16, 16, 3)),
    Example(Build("FastMaskedConv2D", **CONV_2D, use_bias=False), wave(2, 16, 16, 3)),
]
