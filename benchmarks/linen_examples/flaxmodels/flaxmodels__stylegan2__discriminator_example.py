"""Example calls for flaxmodels/stylegan2/discriminator.py of flaxmodels 0.1.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave


def channels(stage):
    """Return the channels of the layers at a stage."""
    return 8 + 0 * stage


EXAMPLES = [
    Example(Build("FromRGBLayer", fmaps=8), wave(2, 16, 16, 3), wave(8)),
    Example(Build("DiscriminatorLayer", fmaps=8), wave(2, 16, 16, 3)),
    Example(Build("DiscriminatorLayer", fmaps=8, use_bias=False), wave(2, 16, 16, 3)),
    Example(Build("DiscriminatorBlock", res=4, nf=channels), wave(2, 16, 16, 8)),
    Example(
        Build("DiscriminatorBlock", res=4, nf=channels, architecture="orig"), wave(2, 16, 16, 8)
    ),
    Example(Build("Discriminator", resolution=16, fmap_max=8), wave(2, 16, 16, 3)),
]
