"""Example calls of `cases_transformers`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

_SETTINGS = Build("Settings")
_STATES = jnp.sin(jnp.arange(80.0)).reshape(2, 5, 8)
_INPUTS = jnp.sin(jnp.arange(60.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("Attending", _SETTINGS), _STATES),
    Example(Build("Attending", _SETTINGS), _STATES, _STATES[:, :3], with_weights=True, name="two"),
    Example(Build("Layer", _SETTINGS), _STATES, _STATES[:, :3]),
    Example(Build("Layers", _SETTINGS), _STATES, with_names=False),
    Example(Build("Layers", _SETTINGS, True), _STATES, with_names=False, name="saves memory"),
    Example(Build("Model", _SETTINGS), _INPUTS, with_names=False),
    Example(Build("Model", _SETTINGS, sums_up=False), _INPUTS, with_names=False, name="no summary"),
    Example(Build("Classifier", _SETTINGS), _INPUTS),
    Example(Build("Classifier", _SETTINGS), _INPUTS, with_names=False, name="as a tuple"),
]
