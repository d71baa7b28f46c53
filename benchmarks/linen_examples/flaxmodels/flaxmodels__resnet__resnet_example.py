"""Example calls for flaxmodels/resnet/resnet.py of flaxmodels 0.1.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

RES_NET = Build("ResNet", pretrained=None, num_classes=5, architecture="resnet18", normalize=False)

EXAMPLES = [
    Example(Build("BasicBlock", features=8, kernel_size=(3, 3)), wave(2, 8, 8, 8), {}, train=False),
    Example(
        Build("BasicBlock", features=8, kernel_size=(3, 3)),
        wave(2, 8, 8, 8),
        {},
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(
        Build("BasicBlock", features=8, kernel_size=(3, 3), downsample=True),
        wave(2, 8, 8, 8),
        {},
        train=False,
    ),
    Example(
        Build("Bottleneck", features=4, kernel_size=(3, 3)), wave(2, 8, 8, 16), {}, train=False
    ),
    Example(
        Build("Bottleneck", features=4, kernel_size=(3, 3)),
        wave(2, 8, 8, 16),
        {},
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(
        Build("Bottleneck", features=4, kernel_size=(3, 3), downsample=True),
        wave(2, 8, 8, 16),
        {},
        train=False,
    ),
    Example(RES_NET, wave(2, 32, 32, 3), train=False),
    Example(RES_NET, wave(2, 32, 32, 3), train=True, mutable=("batch_stats",), name="training"),
    Example(
        Build("ResNet", pretrained=None, num_classes=5, architecture="resnet18"),
        wave(2, 32, 32, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
]
