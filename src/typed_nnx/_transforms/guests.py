"""Modules of flax.nnx among the arguments: jax takes them as trees, so that changes do not come back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jax

from typed_nnx._transforms.gather import is_object
from typed_nnx._transforms.places import place_name
from typed_nnx.errors import ForeignModuleError

_FLAX = "flax.nnx"


class Guests:
    """The Modules and Variables of flax.nnx among the arguments, as they came in.

    Args:
        args: The positional arguments, inside the transform.
        kwargs: The keyword arguments.
    """

    __slots__ = ("_found",)

    def __init__(self, args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
        self._found: list[tuple[int | str, Any, list[Any], Any]] = []
        kinds = _kinds()
        if kinds:
            named: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
            for root, value in named:
                for each in _guests_in(value, kinds):
                    self._found.append((root, each, *jax.tree.flatten(each)))

    def check(self, function: str) -> None:
        """Raise if one of them is not as it came in.

        Args:
            function: The transform and the function.

        Raises:
            ForeignModuleError: One was changed.
        """
        for root, guest, leaves, structure in self._found:
            now, structure_now = jax.tree.flatten(guest)
            same = structure_now == structure and len(now) == len(leaves)
            if not same or any(a is not b for a, b in zip(leaves, now, strict=True)):
                raise ForeignModuleError(function, place_name((root,)), type(guest).__name__)


def _kinds() -> tuple[type, ...]:
    """Return what Modules and Variables of flax.nnx are; nothing where nobody imported it."""
    module = sys.modules.get(_FLAX)
    found = (getattr(module, name, None) for name in ("Pytree", "Variable"))
    return tuple(each for each in found if isinstance(each, type))


def _guests_in(value: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    # What one of our own objects holds is written back with it.
    leaves = jax.tree.leaves(value, is_leaf=lambda each: isinstance(each, kinds) or is_object(each))
    return (each for each in leaves if isinstance(each, kinds))
