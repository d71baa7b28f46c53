from functools import partial

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
IMAGES = jnp.linspace(-1.0, 1.0, 2 * 8 * 8 * 3).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("ChosenInitializers"), X),
    Example(Build("ChosenInitializers", is_last=True), X, train=True, mutable=("batch_stats",)),
    Example(Build("ThreeInitializers"), X),
    Example(Build("ThreeInitializers", is_first=True), X),
    Example(Build("ThreeInitializers", is_last=True), X),
    Example(Build("NormedBlock", 4), X),
    Example(Build("NormedBlock", 4, is_last=True), X, train=True, mutable=("batch_stats",)),
    Example(Build("NormedBlock", 4, norm=None), X),
    Example(
        Build("NormedBlock", 4, norm=partial(nn.BatchNorm, momentum=0.5)),
        X,
        train=True,
        mutable=("batch_stats",),
    ),
    Example(Build("ChosenByCall"), X),
    Example(Build("ChosenActivation"), X),
    Example(Build("ChosenActivation", kind="tanh"), X),
    Example(Build("ListOfActivations"), X),
    Example(Build("ListOfActivations", factors=(2, 1)), X),
    Example(Build("ListOfActivations", (4, 6), activations=(nn.relu, nn.tanh)), X),
    Example(Build("ListOfActivations", (4,), activations=None), X),
    Example(Build("SingleImages"), IMAGES),
    Example(Build("SingleImages", depth=1), IMAGES[0]),
    Example(Build("ScaledBelow"), X),
    Example(Build("ScaledBelow"), IMAGES),
    Example(Build("NamedInSetup"), X),
    Example(Build("NamedInSetup", "relu"), X),
]
