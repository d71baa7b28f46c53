import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1, 1, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("Stack", 3), X, deterministic=True),
    Example(Build("StackOfWeightsLast"), X),
    Example(Build("StackWithInputs"), X, jnp.ones((3, 2, 4)), jnp.ones((3, 2, 5))),
    Example(Build("NormedStack"), X, mutable=("batch_stats",)),
    Example(Build("MaybeRemat", False), X),
    Example(Build("MaybeRemat", True, policy=jax.checkpoint_policies.nothing_saveable), X),
    Example(Build("Stages"), X),
    Example(Build("ManyStacks"), X),
    Example(Build("Policy"), X),
]
