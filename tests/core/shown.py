"""Objects to show, and their text, in either library."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import jax
import jax.numpy as jnp


class Lines:
    """An object whose text has several lines."""

    def __repr__(self) -> str:
        return "Lines(\n  x\n)"


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Registered:
    """A dataclass that jax knows."""

    a: Any
    b: Any


def pair() -> jax.Array:
    return jnp.array([1.0, 2.0])


def bag(library: Any, **attributes: Any) -> Any:
    """Return a module with these attributes."""

    class Bag(library.Module):
        def __init__(self, values: dict[str, Any]) -> None:
            for name, value in values.items():
                setattr(self, name, value)

    return Bag(attributes)


def shown(value: object) -> str:
    """Return the text of an object without addresses in memory."""
    assert str(value) == repr(value)
    return re.sub(r"0x[0-9a-f]+", "0x", repr(value))
