"""How the hard cases are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 8 * 3.0)).reshape(2, 8, 3)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("OpaqueInput"), X),
    Example(Build("OpaqueOutput"), X),
    Example(Build("LayersByShape"), SEQ),
    Example(Build("WhileByShape", 4), IMAGES),
    Example(Build("FlattenAnySize"), IMAGES),
    Example(Build("FlattenAnySize"), IMAGES[:, :6]),
    Example(Build("GlobalTemplate"), X),
    Example(Build("FromTable", ("dense", "general")), X),
    Example(Build("Registered", 4), X),
    Example(Build("FromRegistry", "Registered", {"features": 3}), X),
    Example(Build("LambdaBuilds"), X),
    Example(Build("MappedBuilds", (4, 3)), X),
    Example(Build("SharedDefault"), X),
    Example(Build("SharedDefaultTwice"), X),
    Example(Build("SamePlainMethods"), X),
    Example(Build("BranchShiftsNames"), X),
    Example(Build("BranchShiftsNames"), X, X[:, :4]),
    Example(Build("WalrusAndStar"), X),
    Example(Build("OrderOfArguments"), X),
    Example(Build("WidthFromValues", (3, 5)), X),
    Example(Build("GenericCaller", Build("flax.linen.Dense", 4)), X),
    Example(Build("GenericCaller", Build("flax.linen.Embed", 9, 4), method="attend"), X[:, :4]),
    Example(Build("StateInParams"), X),
    Example(Build("StateInParams"), X, mutable=("stats",)),
    Example(Build("RewrittenVariables"), X),
    Example(Build("ThreeCalls"), X),
    Example(Build("PooledToken"), jnp.arange(8).reshape(2, 4) % 7),
]
