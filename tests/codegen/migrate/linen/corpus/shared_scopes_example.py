import jax

from typed_nnx_codegen.verify.examples import Build, Example

X = jax.random.normal(jax.random.key(0), (2, 5))

EXAMPLES = [
    Example(Build("LoRA", base=Build("flax.linen.Dense", 5)), X),
    Example(Build("InCompact"), X),
    Example(Build("InSetup"), X),
    Example(Build("Held", inner=Build("flax.linen.Dense", 5)), X),
    Example(Build("Wrapper", model=Build("flax.linen.Dense", 5)), X),
    Example(Build("Wrapper", model=Build("InCompact")), X),
    Example(Build("FeedForward", 4), X),
    Example(Build("FeedForward", 4, flip=True), X),
    Example(Build("Gate", 4), X),
]
