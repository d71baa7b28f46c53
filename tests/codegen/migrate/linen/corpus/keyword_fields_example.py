import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.arange(10.0).reshape(2, 5)
EXAMPLES = [
    Example(Build("KeywordFields", bias=True), X),
    Example(Build("KeywordFields", 4, bias=False), X),
    Example(Build("MoreKeywords", 4, bias=True, more=2), X),
    Example(Build("PositionalBehind", 4, 7, bias=True), X),
    Example(Build("KeywordUser"), X),
    Example(Build("FollowsFields"), X),
    Example(Build("FollowsFields", 6, 3), X),
    Example(Build("HoldsFollowing"), X),
    Example(Build("Decorated", 4), X),
    Example(Build("DecoratedByName", width=4, bias=False), X),
]
