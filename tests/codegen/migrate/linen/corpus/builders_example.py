import jax

from typed_nnx_codegen.verify.examples import Build, Example

X = jax.random.normal(jax.random.key(0), (2, 5))
IMAGE = jax.random.normal(jax.random.key(1), (2, 6, 6, 3))

EXAMPLES = [
    Example(Build("Blocks", (4, 8)), IMAGE),
    Example(Build("Blocks", (2,), kind="layer"), IMAGE),
    Example(Build("OneBlock"), IMAGE),
    Example(Build("Closures"), X),
    Example(Build("Options"), X),
    Example(Build("Options", bias=False), X),
    Example(Build("InSetup", 6), X),
    Example(Build("InSetup", 6, kind="rms", deep=True), X),
    Example(Build("Overridden"), X),
    Example(Build("Overriding"), X),
    Example(Build("Shadowing"), X),
    Example(Build("OfAClass"), X),
    Example(Build("OfAClassInSetup"), X),
]
