"""How the modules with odd names are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("NestedCalls"), X),
    Example(Build("BuiltBeforeCalled"), X),
    Example(Build("SameWidths"), X),
    Example(Build("AnyOrder"), X),
    Example(Build("AnyOrder", "b"), X),
    Example(Build("OneNameInBranches"), X),
    Example(Build("OneNameInBranches"), X, True),
    Example(Build("Unused", 4), X),
    Example(Build("MixedNames"), X),
    Example(Build("Dense", 4), X),
    Example(Build("Homonyms"), X),
    Example(Build("DynamicNames", (5, 4)), X),
    Example(Build("DynamicNames", (5,), prefix="block"), X),
    Example(Build("TwoLevelNames", (2, 1)), X),
    Example(Build("NamesInSetup"), X),
    Example(Build("SetattrNames", 3), X),
    Example(Build("MixedSetupCompact", 4), X),
    Example(Build("ReservedWords"), X),
    Example(Build("FieldNamedAsLayer"), X),
    Example(Build("_Hidden", 3), X),
    Example(Build("HiddenBlocks"), X),
    Example(Build("NamePassedOn"), X),
    Example(Build("NamePassedOn", "first"), X),
]
