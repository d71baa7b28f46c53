"""How the modules with methods are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("LocalFunctions", 5), X),
    Example(Build("Nowrap", 4), X),
    Example(Build("ConstantsAndProperties"), X),
    Example(Build("ConstantsAndProperties.small"), X),
    Example(Build("CompactElsewhere", 4), X, reverse=True),
    Example(Build("CompactElsewhere", 4), X, method="forward"),
    Example(Build("SeveralMethods", 4), X),
    Example(Build("SeveralMethods", 4), X, method="encode"),
    Example(Build("SeveralMethods", 4), X[:, :4], method="decode"),
    Example(Build("SeveralMethods", 4), X, method="loss"),
    Example(Build("UserOfMethods"), X),
    Example(Build("NamedScopes"), X),
    Example(Build("TwoRounds"), X),
    Example(Build("ScannedFunction", 3), X),
    Example(Build("Reshapes"), X),
    Example(Build("Memory", 4), X),
    Example(Build("Memory", 4), X, X[:, :3], method="read"),
    Example(Build("MemoryUser", Build("Memory", 4)), X),
    Example(Build("TwoWays"), X),
]
