"""Example calls for flaxmodels/few_shot_gan_adaption/generator.py of flaxmodels 0.1.3."""

from typing import Any

from typed_nnx_codegen.verify.examples import Build, Example, wave

SMALL: dict[str, Any] = {
    "z_dim": 8,
    "w_dim": 8,
    "mapping_layer_features": 8,
    "num_mapping_layers": 2,
}
MAPPING: dict[str, Any] = {
    "z_dim": 8,
    "w_dim": 8,
    "layer_features": 8,
    "num_layers": 2,
    "num_ws": 6,
}

GENERATOR = Build("Generator", **SMALL, resolution=16, num_ws=6, fmap_max=8)

EXAMPLES = [
    Example(Build("MappingNetwork", **MAPPING), wave(2, 8), train=False),
    Example(
        Build("MappingNetwork", **MAPPING),
        wave(2, 8),
        train=True,
        mutable=("moving_stats",),
        name="training",
    ),
    Example(
        Build("SynthesisLayer", fmaps=8, kernel=3, layer_idx=8, res=8),
        wave(2, 16, 16, 3),
        wave(2, 6, 8),
    ),
    Example(
        Build("ToRGBLayer", fmaps=3, layer_idx=2),
        wave(2, 8, 8, 8),
        wave(2, 8, 8, 3),
        wave(2, 10, 8),
    ),
    Example(
        Build("SynthesisBlock", fmaps=8, res=3),
        wave(2, 4, 4, 8),
        wave(2, 4, 4, 3),
        wave(2, 6, 8),
        feature_list=[],
    ),
    Example(Build("SynthesisNetwork", resolution=16, w_dim=8, fmap_max=8), wave(2, 6, 8)),
    Example(GENERATOR, wave(2, 8), train=False),
    Example(GENERATOR, wave(3, 8), train=True, mutable=("moving_stats",), name="training"),
]
