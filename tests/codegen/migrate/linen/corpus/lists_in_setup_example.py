"""Calls of the modules with lists and partials in `setup`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)

EXAMPLES = [
    Example(Build("MixedList", 5), X),
    Example(Build("MixedList", 5, rate=0.5), X, train=False),
    Example(Build("MixedTuple", 5), X),
    Example(Build("UsesMixed", 4), X),
    Example(Build("PlainList", 4), X),
    Example(Build("Inner", 5, 2), X, False),
    Example(Build("MappedInSetup", 5, 2), X),
    Example(Build("PartialInSetup", 5), X),
    Example(Build("CountedParts", 4), X),
    Example(Build("CountedParts", 4, True), X),
    Example(Build("ChosenFirst", 4), X),
    Example(Build("ChosenFirst", 4, "projected"), X),
    Example(Build("ChosenFirst", 4, is_crossed=True), X),
    Example(Build("CountedBlocks", 4, 2), X),
    Example(Build("CountedBlocks", 4, 2, True), X),
    Example(Build("UnnamedParts", 4), X),
    Example(Build("UnnamedParts", 4, True), X),
    Example(Build("MiscountedParts", 4), X),
    Example(Build("MiscountedParts", 4, True), X),
    Example(Build("Projected", 4), X),
    Example(Build("Squared", 4), X),
    Example(Build("PlacesAfterAHead", (3, 5)), X),
    Example(Build("TuplesOfLayers", (3, 5)), X),
    Example(Build("GrownInPlace", (3, 5), 2), X),
    Example(Build("GrownInPlace", (4,), 2), X),
    Example(Build("GrownThenKept", (3, 5)), X),
    Example(Build("UnpackedLayers", 4), X),
    Example(Build("MixedExperts", 3, 5), X),
    *(Example(Build(name, (4, 4)), X) for name in ("SequentialOfSums", "SequentialInCall")),
    *(Example(Build(name, (3, 5)), X) for name in ("SequentialOfSums", "SequentialInCall")),
]
