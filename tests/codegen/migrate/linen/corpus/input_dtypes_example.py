"""Calls of the modules of `input_dtypes.py`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

_X = jnp.linspace(-1.0, 1.0, 20).reshape(4, 5)
_HALF = _X.astype(jnp.bfloat16)

EXAMPLES = [
    Example(Build("TypedByInputs", 6), _X),
    Example(Build("TypedByInputs", 6), _HALF, name="half"),
    Example(Build("TypedByAnother", 6), _X, _HALF),
    Example(Build("TypedByAnother", 6), _HALF, _X, name="half"),
    Example(Build("TypedConvolution"), jnp.ones((2, 6, 6, 3), jnp.bfloat16)),
    Example(Build("TypedAgain"), _HALF),
    Example(Build("ReboundBeforeTheCall"), _HALF),
    Example(Build("TypedNorms"), _HALF),
    Example(Build("TypedNorms"), _X, name="full"),
    Example(Build("TypedByAnotherNorm"), _X, _HALF),
    Example(Build("TypedByAnotherNorm"), _HALF, _X, name="half"),
    Example(Build("TypedInLayers"), _HALF),
    Example(Build("TypedPartial"), _HALF),
    Example(Build("TypedFirstValues"), _X),
]
