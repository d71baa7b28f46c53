"""Prefix trees that do not have the structure of what they are for."""

from __future__ import annotations

from typing import Any

import jax

from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._transforms.prefixes import Prefix
from typed_nnx.errors import PrefixStructureError

_OPTIONS = {"jit": "shardings", "shard_map": "specs"}


def check_prefix(function: str, where: str, place: str, prefix: Prefix, value: Any) -> None:
    """Raise if a prefix is a nest of containers and the value another.

    What is in other pytrees is left to jax.

    Args:
        function: The name of the transform, or a text that begins with it.
        where: "in" or "out".
        place: What the value is.
        prefix: Its prefix.
        value: The value.

    Raises:
        PrefixStructureError: With the first place that differs.
    """
    found = _mismatch(prefix, value, ())
    if found is not None:
        path, own, other = found
        option = f"{where}_{_OPTIONS.get(function.partition(' ')[0], 'axes')}"
        text = place + attribute_path(path)
        raise PrefixStructureError(function, option, text, _describe(own), _describe(other))


def _mismatch(prefix: Prefix, value: Any, path: Path) -> tuple[Path, Prefix, Any] | None:
    if type(prefix) not in (tuple, list, dict):
        return None
    if type(value) is not type(prefix) or len(value) != len(prefix):
        return path, prefix, value
    keys = prefix if type(prefix) is dict else range(len(prefix))
    for key in keys:
        if type(value) is dict and key not in value:
            return path, prefix, value
        found = _mismatch(prefix[key], value[key], (*path, key))
        if found is not None:
            return found
    return None


def _describe(value: Any) -> str:
    if type(value) is dict:
        return f"a dict with the keys {list(value)}"
    if type(value) in (tuple, list):
        return f"a {type(value).__name__} of {len(value)}"
    return describe_leaf(value) if isinstance(value, jax.Array) else type(value).__name__
