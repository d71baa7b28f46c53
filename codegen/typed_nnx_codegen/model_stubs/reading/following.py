"""Which modules of libraries mypy follows: those that say something about attributes of models.

jax imports half of its dependencies for displays and compilers. Following all of it, mypy needs
four times as long when its cache is empty, for the same types of attributes.
"""

from __future__ import annotations

from collections.abc import Container

# With everything below them; what is imported from them is Any.
_LEFT_OUT = (
    "IPython",
    "PIL",
    "absl",
    "etils",
    "jax._src",
    "jax.experimental",
    "jax.export",
    "jax.extend",
    "jax.interpreters",
    "matplotlib",
    "numpy.distutils",
    "numpy.f2py",
    "numpy.testing",
    "orbax",
    "rich",
    "scipy",
    "sklearn",
    "tensorstore",
    "treescope",
    "typed_nnx.bridge",
)

# Of the above: where arrays, random keys, initializers and activations come from.
_FOLLOWED = (
    "jax._src",
    "jax._src.api",
    "jax._src.array",
    "jax._src.basearray",
    "jax._src.lax",
    "jax._src.lax.control_flow",
    "jax._src.lax.convolution",
    "jax._src.lax.lax",
    "jax._src.lax.slicing",
    "jax._src.mesh",
    "jax._src.named_sharding",
    "jax._src.nn",
    "jax._src.nn.functions",
    "jax._src.nn.initializers",
    "jax._src.numpy",
    "jax._src.numpy.array",
    "jax._src.numpy.array_creation",
    "jax._src.numpy.lax_numpy",
    "jax._src.numpy.reductions",
    "jax._src.numpy.ufuncs",
    "jax._src.partition_spec",
    "jax._src.random",
    "jax._src.random.*",
    "jax._src.stages",
    "jax._src.tree",
    "jax._src.tree_util",
    "jax._src.typing",
    "jax._src.util",
)

_OTHER_RUNTIME = {
    "typed_nnx": ("flax", "optax"),
    "flax.nnx": ("flax.linen", "flax.training", "flax.nnx.bridge", "optax", "typed_nnx"),
}


def rules(runtime: str, own: Container[str] = ()) -> dict[str, dict[str, object]]:
    """Return mypy's options per module for models of a runtime.

    Args:
        runtime: The package that the models are made with.
        own: The packages that are read, which are followed in any case.
    """
    found: dict[str, dict[str, object]] = {}
    for name in (*_LEFT_OUT, *_OTHER_RUNTIME.get(runtime, ())):
        if name.partition(".")[0] in own:
            continue
        skipped = {"follow_imports": "skip", "follow_imports_for_stubs": True}
        found |= {name: skipped, f"{name}.*": skipped}
    found |= {name: {"follow_imports": "silent"} for name in _FOLLOWED}
    return found
