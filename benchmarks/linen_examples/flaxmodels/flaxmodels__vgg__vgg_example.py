"""Example calls for flaxmodels/vgg/vgg.py of flaxmodels 0.1.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(
        Build("VGG", pretrained=None, include_head=False, output="activations"),
        wave(2, 32, 32, 3),
        train=False,
    )
]
