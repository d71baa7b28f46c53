"""How the modules with members of Enums, computed numbers and constants are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, Ref

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("Head", Ref("Mode.A")), X),
    Example(Build("Head", Ref("Mode.B")), X),
    Example(Build("Head", Ref("Mode.ALIAS")), X),
    Example(Build("Matched"), X),
    Example(Build("Matched", Ref("Mode.A")), X),
    Example(Build("Passes"), X),
    Example(Build("IntMode"), X),
    Example(Build("IntMode", Ref("Pool.MEAN")), X),
    Example(Build("IntPasses"), X),
    Example(Build("IntHead", Ref("Pool.MAX")), X),
    Example(Build("TextMode"), X),
    Example(Build("TextMode", Ref("Text.RELU")), X),
    Example(Build("Twice"), X),
    Example(Build("TwiceIf"), X),
    Example(Build("OfConfig"), X),
    Example(Build("Aug"), X),
    Example(Build("ByTable"), X),
    Example(Build("ByTable", Ref("Mode.A")), X),
    Example(Build("InSetup"), X),
    Example(Build("InSetup", Ref("Mode.B")), X),
    Example(Build("ClassMode"), X),
    Example(Build("ByHelper"), X),
    Example(Build("FileConstants"), X),
    Example(Build("Scaled", 0.5), X),
    Example(Build("OfNumpy"), X),
    Example(Build("Aliased"), X),
    Example(Build("Nested"), X),
    Example(Build("Nested", Ref("Nested.Kind.NARROW")), X),
    Example(Build("NotNone"), X),
    Example(Build("Expanded", 3), X),
    Example(Build("Names"), X),
]
