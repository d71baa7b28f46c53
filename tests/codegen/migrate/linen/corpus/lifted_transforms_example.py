"""How the modules with lifted transforms are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)

EXAMPLES = [
    Example(Build("MLPBlock", 4), X),
    Example(Build("CarryBlock", 4), X, None),
    Example(Build("ScanOrLoop", 2, 4), X),
    Example(Build("ScanOrLoop", 2, 4, remat=True), X),
    Example(Build("ScanOrLoop", 2, 4, scan=False), X),
    Example(Build("ScanOrLoop", 2, 4, scan=False, remat=True), X),
    Example(Build("ScanWithInputs", 3), X, jnp.cos(jnp.arange(3 * 3 * 2.0)).reshape(3, 3, 2)),
    Example(Build("ConditionedLayer"), X, X[:, :2]),
    Example(Build("FunctionBody", 3), X),
    Example(Build("RematLoop", (4, 5)), X),
    Example(Build("RematLoop", (4, 5), use_remat=False), X),
    Example(Build("RematSetup", 2), X),
    Example(Build("RematMethod", 4), X),
    Example(Build("RematFunction"), X),
    Example(Build("TrainedBlock", 4, True), X, None),
    Example(Build("FieldOfCall"), X),
    Example(Build("FieldOfCall", 3), X, False),
    Example(Build("JittedParts"), X),
    Example(Build("JittedWithSettings"), X),
    Example(Build("MultiHead", 2), X),
    Example(Build("MultiHead", 3, shared_input=False), X),
    Example(Build("PerPixel"), SEQ),
    Example(Build("NestedEnsemble", 3, 2), X),
    Example(Build("EnsembleSetup", Build.ref("BatchNormedMember")), X, mutable=("batch_stats",)),
    Example(Build("BatchNormedMember"), X, mutable=("batch_stats",)),
    Example(Build("BatchNormedMember", train=False), X),
    Example(Build("LastAxisStack"), X),
    Example(Build("NamedTarget"), X),
]
