"""Calls of the modules with parts that only some objects have."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)

EXAMPLES = [
    Example(Build("HeadOfOptional", 6), X),
    Example(Build("HeadOfOptional", 6, True), X),
    Example(Build("HeadOfOptional", 6, True, False), X),
    Example(Build("HeadOfOptional", 6, is_plain=False), X),
    Example(Build("HeadOfBranched", 6), X),
    Example(Build("HeadOfBranched", 6, 6), X),
    Example(Build("HeadOfBranched", 6, 5), X),
    Example(Build("HeadOfDropped", 6), X),
    Example(Build("HeadOfDropped", 6, False), X),
    Example(Build("HeadOfPaired", (3, 4, 5), (1, 2, 3)), X),
    Example(Build("HeadOfPaired", (3,), (1,)), X),
    Example(Build("HeadOfPaired", (3, 4, 5), (1, 2)), X),
    Example(Build("HeadOfEncoded", 6), X),
    Example(Build("HeadOfPooled", 6), X),
    Example(Build("EncodesImages", 6), X, as_record=False),
    Example(Build("WeightNormed", 3, 4), X),
    Example(Build("HeadOfProjected", 5), X),
    Example(Build("HeadOfProjected", 5, True), X),
    Example(Build("InlineOrFunction", 5), X),
    Example(Build("InlineOrFunction", 5, True), X),
    Example(Build("BranchOrFunction", 5), X),
    Example(Build("BranchOrFunction", 5, True), X),
    Example(Build("FunctionAfter", 5), X),
    Example(Build("FunctionAfter", 5, True), X),
    Example(Build("ProjectsOrNot", 5, True, 0.5), X, deterministic=True),
    Example(Build("OneOfThree", 5), X),
    Example(Build("OneOfThree", 5, "layer"), X),
    Example(Build("OneOfThree", 5, "wide"), X),
    Example(Build("OptionalAdapter", 6), X),
    Example(Build("OptionalAdapter", 6, True, False), X),
    Example(Build("BranchedAdapter", 6), X),
    Example(Build("BranchedAdapter", 6, 3), X),
    Example(Build("DroppedAdapter", 4), X),
    Example(Build("DroppedAdapter", 4, False), X),
    Example(Build("PairedStages", (4, 3, 5), (1, 2, 1)), X),
    Example(Build("Adapter", 3), X),
]
