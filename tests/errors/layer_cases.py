"""What goes wrong with layers."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Case
from typed_nnx import errors

NO_RNGS: Any = 0
ROWS = jnp.ones((2, 5))

CASES = [
    Case(
        "inputs with other features than the layer has",
        errors.LayerInputError,
        lambda: nnx.Linear(3, 4, rngs=nnx.Rngs(0))(ROWS),
        ("Linear: ", "`inputs` is float32[2,5]", "last axis of size in_features=3"),
        "nnx.Linear(5, 4, ...)",
        TypeError,
    ),
    Case(
        "floats as the numbers of vectors",
        errors.LayerInputError,
        lambda: nnx.Embed(3, 4, rngs=nnx.Rngs(0))(ROWS),
        ("Embed: ", "`inputs` is float32[2,5]", "expected integers"),
        "inputs.astype(jnp.int32)",
        ValueError,
    ),
    Case(
        "an equation without a result",
        errors.LayerArgumentError,
        lambda: nnx.Einsum("ab,bc", (3, 4), rngs=nnx.Rngs(0)),
        ("Einsum: ", "argument `einsum_str` is 'ab,bc'", "two operands"),
        'einsum_str="bta,ahd->bthd"',
        ValueError,
    ),
    Case(
        "one size for two axes",
        errors.LayerArgumentError,
        lambda: nnx.LinearGeneral((3, 4), 5, rngs=nnx.Rngs(0)),
        ("LinearGeneral: ", "argument `axis` is (-1,)", "one axis for each of in_features=(3, 4)"),
        "axis=(-2, -1)",
        ValueError,
    ),
    Case(
        "integers to compute in",
        errors.InexactDtypeError,
        lambda: nnx.Linear(5, 4, dtype=jnp.int32, rngs=nnx.Rngs(0))(ROWS),
        ("promote_dtype: ", "dtype is int32", "expected a float or complex dtype"),
        "dtype=jnp.float32",
        ValueError,
    ),
    Case(
        "a seed in place of streams",
        errors.RngsTypeError,
        lambda: nnx.Linear(3, 4, rngs=NO_RNGS),
        ("Linear: ", "argument `rngs` is 0 (int)", "expected an nnx.Rngs"),
        "Linear(..., rngs=nnx.Rngs(0))",
        TypeError,
    ),
    Case(
        "dropping without streams",
        errors.UnsetModeError,
        lambda: nnx.Dropout(0.5)(ROWS),
        ("Dropout: ", "`rngs` is not set", "`deterministic` is False"),
        "nnx.Dropout(..., rngs=nnx.Rngs(dropout=0))",
        ValueError,
    ),
    Case(
        "dropping without a mode",
        errors.UnsetModeError,
        lambda: nnx.Dropout(0.5, deterministic=None)(ROWS),
        ("Dropout: ", "`deterministic` is not set", "not known"),
        "model.train() or model.eval()",
        ValueError,
    ),
]
