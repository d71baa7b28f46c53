"""Example calls for the modules of flaxmodels 0.1.3, by file."""

from types import SimpleNamespace
from typing import Any

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}
TRAINING: dict[str, Any] = {"train": True, "mutable": ("batch_stats",), "name": "training"}


def channels(stage):
    """Return the channels of the layers at a stage."""
    return 8 + 0 * stage


EXAMPLES["flaxmodels/few_shot_gan_adaption/discriminator.py"] = [
    Example(Build("FromRGBLayer", fmaps=8), wave(2, 16, 16, 3), wave(8)),
    Example(Build("DiscriminatorLayer", fmaps=8), wave(2, 16, 16, 3)),
    Example(Build("DiscriminatorLayer", fmaps=8, use_bias=False), wave(2, 16, 16, 3)),
    Example(Build("DiscriminatorBlock", res=4, nf=channels), wave(2, 16, 16, 8), []),
    Example(
        Build("DiscriminatorBlock", res=4, nf=channels, architecture="orig"), wave(2, 16, 16, 8), []
    ),
    Example(Build("Discriminator", resolution=16, fmap_max=8), wave(2, 16, 16, 3)),
]

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

LAYERS = [
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
]

EXAMPLES["flaxmodels/few_shot_gan_adaption/generator.py"] = [
    *LAYERS,
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

EXAMPLES["flaxmodels/few_shot_gan_adaption/ops.py"] = [
    Example(Build("LinearLayer", in_features=8, out_features=8), wave(2, 8)),
    Example(Build("LinearLayer", in_features=8, out_features=8, use_bias=False), wave(2, 8)),
]

CONFIG = SimpleNamespace(
    vocab_size=11,
    n_positions=16,
    n_ctx=16,
    n_embd=8,
    n_head=2,
    n_layer=2,
    n_inner=None,
    attn_pdrop=0.1,
    resid_pdrop=0.1,
    embd_pdrop=0.1,
    layer_norm_epsilon=1e-05,
    initializer_range=0.02,
    scale_attn_weights=True,
    activation_function="gelu_new",
)

EXAMPLES["flaxmodels/gpt2/gpt2.py"] = [
    Example(Build("GPT2SelfAttention", config=CONFIG), wave(2, 6, 8)),
    Example(Build("GPT2MLP", intermediate_dim=16, config=CONFIG), wave(2, 6, 8)),
    Example(Build("GPT2Block", config=CONFIG), wave(2, 6, 8)),
]

EXAMPLES["flaxmodels/resnet/ops.py"] = [
    Example(Build("BatchNorm"), wave(2, 8), use_running_average=True),
    Example(Build("BatchNorm", use_bias=False), wave(2, 8), use_running_average=True),
    Example(Build("BatchNorm", use_scale=False), wave(2, 8), use_running_average=True),
    Example(
        Build("BatchNorm"),
        wave(4, 8),
        use_running_average=False,
        mutable=("batch_stats",),
        name="training",
    ),
]

RES_NET = Build("ResNet", pretrained=None, num_classes=5, architecture="resnet18", normalize=False)

EXAMPLES["flaxmodels/resnet/resnet.py"] = [
    Example(Build("BasicBlock", features=8, kernel_size=(3, 3)), wave(2, 8, 8, 8), {}, train=False),
    Example(Build("BasicBlock", features=8, kernel_size=(3, 3)), wave(2, 8, 8, 8), {}, **TRAINING),
    Example(
        Build("BasicBlock", features=8, kernel_size=(3, 3), downsample=True),
        wave(2, 8, 8, 8),
        {},
        train=False,
    ),
    Example(
        Build("Bottleneck", features=4, kernel_size=(3, 3)), wave(2, 8, 8, 16), {}, train=False
    ),
    Example(Build("Bottleneck", features=4, kernel_size=(3, 3)), wave(2, 8, 8, 16), {}, **TRAINING),
    Example(
        Build("Bottleneck", features=4, kernel_size=(3, 3), downsample=True),
        wave(2, 8, 8, 16),
        {},
        train=False,
    ),
    Example(RES_NET, wave(2, 32, 32, 3), train=False),
    Example(RES_NET, wave(2, 32, 32, 3), **TRAINING),
    Example(
        Build("ResNet", pretrained=None, num_classes=5, architecture="resnet18"),
        wave(2, 32, 32, 3),
        **TRAINING,
    ),
]

EXAMPLES["flaxmodels/stylegan2/discriminator.py"] = [
    Example(Build("FromRGBLayer", fmaps=8), wave(2, 16, 16, 3), wave(8)),
    Example(Build("DiscriminatorLayer", fmaps=8), wave(2, 16, 16, 3)),
    Example(Build("DiscriminatorLayer", fmaps=8, use_bias=False), wave(2, 16, 16, 3)),
    Example(Build("DiscriminatorBlock", res=4, nf=channels), wave(2, 16, 16, 8)),
    Example(
        Build("DiscriminatorBlock", res=4, nf=channels, architecture="orig"), wave(2, 16, 16, 8)
    ),
    Example(Build("Discriminator", resolution=16, fmap_max=8), wave(2, 16, 16, 3)),
]

EXAMPLES["flaxmodels/stylegan2/generator.py"] = [
    *LAYERS,
    Example(
        Build("SynthesisBlock", fmaps=8, res=3), wave(2, 4, 4, 8), wave(2, 4, 4, 3), wave(2, 6, 8)
    ),
    Example(Build("SynthesisNetwork", resolution=16, w_dim=8, fmap_max=8), wave(2, 6, 8)),
    Example(GENERATOR, wave(2, 8), train=False),
    Example(GENERATOR, wave(3, 8), train=True, mutable=("moving_stats",), name="training"),
]

EXAMPLES["flaxmodels/stylegan2/ops.py"] = [
    Example(Build("LinearLayer", in_features=8, out_features=8), wave(2, 8)),
    Example(Build("LinearLayer", in_features=8, out_features=8, use_bias=False), wave(2, 8)),
]

EXAMPLES["flaxmodels/vgg/vgg.py"] = [
    Example(
        Build("VGG", pretrained=None, include_head=False, output="activations"),
        wave(2, 32, 32, 3),
        train=False,
    )
]
