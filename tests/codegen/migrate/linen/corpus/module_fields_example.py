"""How the modules with modules in fields are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
PROJECTION = Build.ref("Projection")

EXAMPLES = [
    Example(Build("Projection", 4), X),
    Example(Build("ClassField"), X),
    Example(Build("ClassField", PROJECTION, Build.ref("flax.linen.RMSNorm"), 5), X),
    Example(Build("ClassField", norm_cls=None), X),
    Example(Build("InstanceField", Build("flax.linen.Dense", 5)), X),
    Example(Build("InstanceField", Build("Projection", 5), decoder=Build("Projection", 2)), X),
    Example(Build("InstanceDefault"), X),
    Example(Build("InstanceDefault", head=Build("Projection", 2)), X),
    Example(Build("FactoryField", Build.ref("flax.linen.Dense")), X),
    Example(Build("FactoryField", PROJECTION, depth=3), X),
    Example(
        Build(
            "FactoryField",
            Build("functools.partial", Build.ref("flax.linen.Dense"), use_bias=False),
        ),
        X,
    ),
    Example(Build("FactoryInSetup"), X),
    Example(Build("Residual", Build("flax.linen.Dense", 6)), X),
    Example(Build("ResidualUser"), X),
    Example(Build("ResidualSetupUser", 6), X),
    Example(Build("PreNorm", Build("flax.linen.Dense", 4)), X),
    Example(Build("TransformerOfWrappers", 2, 6), SEQ),
    Example(Build("TorsoAndHead", Build("Projection", 4), Build("flax.linen.Dense", 2)), X),
    Example(
        Build("TorsoAndHead", Build("Projection", 4), Build("flax.linen.Dense", 2)),
        X,
        method="embed",
    ),
    Example(Build("CopiedField", Build("Projection", 6)), X),
    Example(Build("ProtocolFields", Build("Projection", 4)), X),
    Example(Build("ProtocolFields", Build("Projection", 4), norm=Build("flax.linen.LayerNorm")), X),
    Example(Build("ProtocolFields", jnp.tanh), X),
    Example(Build("ProtocolFields", Build("ProtocolModule", 5)), X),
    Example(Build("ProtocolModule"), X),
    Example(Build("DefaultsInTurn"), X),
    Example(Build("DefaultsInTurn", first=Build("Projection", 4)), X),
    Example(Build("TreePartials"), X),
]
