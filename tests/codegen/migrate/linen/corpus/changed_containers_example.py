import jax

from typed_nnx_codegen.verify.examples import Build, Example

X = jax.random.normal(jax.random.key(0), (2, 5))

EXAMPLES = [
    Example(Build("ChangedSettings"), X),
    Example(Build("ChangedSettings", bias=False), X),
    Example(Build("ChangedWidths"), X),
    Example(Build("Forwarded"), X),
]
