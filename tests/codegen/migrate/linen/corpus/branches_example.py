"""How the modules with branches are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
CONTEXT = jnp.cos(jnp.arange(2 * 3 * 5.0)).reshape(2, 3, 5)

EXAMPLES = [
    Example(Build("FieldBranch", 4), SEQ),
    Example(Build("FieldBranch", 4, use_norm=False, conv=True, residual=True), SEQ),
    Example(Build("FieldBranch", 6, residual=True), SEQ),
    Example(Build("TrainBranch", 4), X, train=True),
    Example(Build("UnnamedTrainBranch"), X, pre=True),
    Example(Build("UnnamedTrainBranch"), X, pre=False),
    Example(Build("OptionalInput", 4), X),
    Example(Build("OptionalInput", 4), X, X[:, :3], mask=jnp.ones(3)),
    Example(Build("CrossOrSelf", 2), SEQ),
    Example(Build("CrossOrSelf", 3), SEQ, CONTEXT),
    Example(Build("Ternaries", 4), X),
    Example(Build("Ternaries", 1, bottleneck=3, norm=None), X),
    Example(Build("Ternaries", 4, 5, norm="rms"), X),
    Example(Build("EarlyReturn", 2), X),
    Example(Build("EarlyReturn", 2, 0), X),
    Example(Build("EarlyReturn", 0, out=3), X),
    Example(Build("SetupBranch", "linear", 4), X),
    Example(Build("SetupBranch", "mlp", 3, dropout=0.2), X),
    Example(Build("BranchByShape", 4), X),
    Example(Build("BranchByShape", 6), X[0]),
    Example(Build("InitOnlyPath"), X),
    Example(Build("InitOnlyPath"), X, task="b"),
    Example(Build("MatchActivation", "glu", 4), X),
    Example(Build("MatchActivation", "swiglu", 4), X),
    Example(Build("MatchActivation", "other", 4), X),
    Example(Build("DropoutFieldAndCall"), SEQ, deterministic=True),
    Example(Build("DropoutFieldAndCall", 0.0, False), SEQ, training=True, rngs=("dropout",)),
    Example(Build("GainOrNone"), X),
    Example(Build("GainOrNone", deep=True), X),
    Example(Build("GainOrNone", flat=True), X),
    Example(Build("GainOrNone", last=True), X),
]
