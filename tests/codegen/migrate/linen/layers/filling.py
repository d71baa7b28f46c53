"""Fills a layer with Linen's weights as the table says, and compares what it computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import traverse_util

from typed_nnx_codegen.migrate.linen.domain.values import Array, Seq, Value
from typed_nnx_codegen.migrate.linen.layers import LayerVariable


def fill(model: Any, variables: Any, places: tuple[LayerVariable, ...]) -> None:
    """Put Linen variables where the table says."""
    flat = traverse_util.flatten_dict(variables, sep="/")
    by_name = {place.linen: place for place in places}
    for path, leaf in flat.items():
        place = by_name[path]
        value = leaf
        if place.reshape is not None:
            value = jnp.reshape(value, place.reshape)
        variable = at_path(model, place.nnx)
        assert variable.shape == value.shape, (path, variable.shape, value.shape)
        # Linen's wrappers leave the weights of the layer in the dtype that they compute in.
        assert "layer_instance" in path or variable.dtype == value.dtype, path
        variable.set_value(value)


def at_path(model: Any, path: str) -> Any:
    """Return the variable at a path of attributes."""
    for part in path.split("."):
        model = model[int(part)] if part.isdecimal() else getattr(model, part)
    return model


def check_equal(found: Any, expected: Any, tolerance: float = 1e-6) -> None:
    """Compare two trees of arrays: structure, dtypes, numbers."""
    ones, others = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(ones) == len(others)
    for one, other in zip(ones, others, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(
            np.asarray(one, np.float32),
            np.asarray(other, np.float32),
            rtol=tolerance,
            atol=tolerance,
        )


def check_shape(value: Value, found: Any, names: Mapping[str, Any]) -> None:
    """Compare what the table says of an output with the output."""
    if isinstance(value, Seq):
        assert isinstance(found, tuple)
        assert len(found) == len(value.items)
        for item, one in zip(value.items, found, strict=True):
            check_shape(item, one, names)
        return
    if not isinstance(value, Array):
        return
    shape = value.shape
    assert shape.rank in (None, found.ndim)
    for at, dim in enumerate(reversed(shape.dims)):
        if dim is not None:
            assert eval(dim.code(), dict(names)) == found.shape[-1 - at], dim.code()
    if shape.lead is not None and shape.lead.argument:
        whole = eval(shape.lead.argument, dict(names)).shape[: shape.lead.stop]
        assert found.shape[: found.ndim - len(shape.dims)] == whole
