import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
STATS = ("batch_stats",)
BUILDS = (
    Build("NormByMode", 5),
    Build("NormInField"),
    Build("NormInField", norm=None),
    Build("HoldsModes"),
    Build("OutputByMode"),
    Build("OwnStatistics"),
    Build("AsksInSetup"),
)
EXAMPLES = [
    *(Example(build, X, mutable=STATS, name=f"{build} in training") for build in BUILDS),
    *(Example(build, X, name=f"{build} in evaluation") for build in BUILDS),
    Example(Build("HoldsModes"), X, mutable=STATS, train=True, name="HoldsModes, all in training"),
    Example(Build("HasModeField"), X, mutable=STATS),
    Example(Build("ModeInSequence", 4), X),
    Example(Build("ModeInList"), X),
    Example(Build("ModeInList"), X, True, mutable=("batch_stats",), name="ModeInList, training"),
    Example(Build("ModesWithin"), X),
    *(Example(Build(name), X) for name in ("ModeGiven", "ModeAlsoAlone")),
    Example(Build("CallsNorm", Build("flax.linen.LayerNorm")), X),
]
