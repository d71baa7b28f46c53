import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

S, A = jnp.linspace(-1, 1, 10).reshape(2, 5), jnp.linspace(0, 1, 6).reshape(2, 3)
THREE = jnp.linspace(-2, 1, 30).reshape(3, 2, 5)
X = jnp.linspace(-1, 2, 24).reshape(2, 2, 6)

EXAMPLES = [
    Example(Build("Critics", (4, 3)), S, A),
    Example(Build("CriticsByKeyword"), THREE, A, train=True),
    Example(Build("CriticsInSetup", 4), S, A),
    Example(Build("SharedWeights"), X),
    Example(Build("NormedMembers"), S, mutable=("batch_stats",)),
    Example(Build("SharedWeightsOwnStatistics"), THREE, mutable=("batch_stats",)),
    Example(Build("OtherAxes"), S),
    Example(Build("AlikeAtFirst"), X),
    Example(Build("Grid", 2, 3), X),
    Example(Build("AnyArguments"), S, A),
]
