"""Whether a value fits a place, and the value in the dtype of the place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.migrate.weights.placing import Placement
from typed_nnx_codegen.migrate.weights.problems import Problems
from typed_nnx_codegen.migrate.weights.trees import shape_text

_KINDS = (jnp.floating, jnp.complexfloating, jnp.bool_, jnp.integer)


@dataclass
class Fitting:
    """Checks values and casts them.

    Attributes:
        problems: What was found to be wrong.
        cast: What was cast, in words.
    """

    problems: Problems
    cast: list[str] = field(default_factory=list)

    def fitted(self, placement: Placement) -> Any:
        """Return the value that goes to a place; what is wrong with it goes to `problems`."""
        where = f"{placement.linen} -> {placement.slot.path}"
        return self._fitted(placement.value, placement.slot.value, where)

    def _fitted(self, value: Any, current: Any, where: str) -> Any:
        if current is None:
            return jnp.asarray(value) if isinstance(value, np.ndarray) else value
        if _is_one(current):
            return self._array(value, current, where)
        # Of a sown value or a nest of arrays, as msgpack has it: lists are mappings by number.
        given = {_key_text(path): leaf for path, leaf in _leaves(value)}
        wanted = {_key_text(path): leaf for path, leaf in _leaves(current)}
        if given.keys() != wanted.keys():
            self.problems.shapes.append(
                f"{where}: found values at {sorted(given)}, expected {sorted(wanted)}"
            )
            return current
        fitted = [self._array(given[key], each, f"{where} {key}") for key, each in wanted.items()]
        return jax.tree.unflatten(jax.tree.structure(current), fitted)

    def _array(self, value: Any, current: Any, where: str) -> Any:
        if not hasattr(value, "dtype"):
            value = _as_array(value)
        wanted = current if hasattr(current, "dtype") else _as_array(current)
        if value is None or wanted is None:
            self.problems.dtypes.append(f"{where}: found {shape_text(value)}, no array")
            return current
        if _is_key(wanted) and not _is_key(value) and value.dtype == jnp.uint32:
            value = _as_key(value, wanted)
        if value.shape != wanted.shape:
            self.problems.shapes.append(_mismatch(where, value, wanted))
            return current
        if value.dtype != wanted.dtype:
            if not _same_kind(value.dtype, wanted.dtype):
                self.problems.dtypes.append(_mismatch(where, value, wanted))
                return current
            self.cast.append(f"{where}: {value.dtype} cast to {wanted.dtype}")
        return _placed(value, current, wanted.dtype)


def _is_one(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, bool | int | float | complex)


def _as_array(value: Any) -> Any:
    try:
        return jnp.asarray(value)
    except (TypeError, ValueError):
        return None


def _is_key(value: Any) -> bool:
    return bool(jnp.issubdtype(value.dtype, jax.dtypes.prng_key))


def _as_key(value: Any, wanted: Any) -> Any:
    """Return the key of old-style key data where the shape says that it is one."""
    key = jax.eval_shape(jax.random.key_data, wanted)
    if value.shape != key.shape:
        return value
    return jax.random.wrap_key_data(value, impl=jax.random.key_impl(wanted))


def _same_kind(one: Any, other: Any) -> bool:
    if any(jnp.issubdtype(each, jax.dtypes.prng_key) for each in (one, other)):
        return False
    return any(jnp.issubdtype(one, kind) and jnp.issubdtype(other, kind) for kind in _KINDS)


def _placed(value: Any, current: Any, dtype: Any) -> Any:
    """Return the value in a dtype, on the devices of what is there now."""
    if value.dtype != dtype:
        value = jnp.asarray(value).astype(dtype)
    value = jnp.asarray(value)
    is_concrete = isinstance(current, jax.Array) and not isinstance(current, jax.core.Tracer)
    if is_concrete and len(current.sharding.device_set) > 1:
        return jax.device_put(value, current.sharding)
    return value


def _leaves(value: Any) -> Any:
    return jax.tree_util.tree_flatten_with_path(value)[0]


def _key_text(path: tuple[Any, ...]) -> str:
    names = [getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))) for key in path]
    return "/".join(map(str, names))


def _mismatch(where: str, value: Any, wanted: Any) -> str:
    return f"{where}: found {shape_text(value)}, expected {shape_text(wanted)}"
