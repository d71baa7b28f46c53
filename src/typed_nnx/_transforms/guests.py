"""Modules of flax.nnx among the arguments: jax takes them as trees, so that changes do not come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jax

from typed_nnx._core.fields import flax_kinds
from typed_nnx._transforms.callables import Parameters
from typed_nnx._transforms.gather import is_object
from typed_nnx._transforms.places import place_name
from typed_nnx.errors import ForeignModuleError


class Guests:
    """The Modules and Variables of flax.nnx among the arguments, as they came in.

    Args:
        args: The positional arguments, inside the transform.
        kwargs: The keyword arguments.
    """

    __slots__ = ("_found",)

    def __init__(self, args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
        self._found: list[tuple[Any, Any, list[Any], Any]] = []
        kinds = flax_kinds()
        if kinds:
            named: list[tuple[Any, Any]] = [*enumerate(args), *kwargs.items()]
            for root, value in named:
                for each in _guests_in(value, kinds):
                    self._found.append((root, each, *jax.tree.flatten(each)))

    def check(self, title: str, function: Any) -> None:
        """Raise if one of them is not as it came in.

        Args:
            title: The transform and the function.
            function: The function.

        Raises:
            ForeignModuleError: One was changed.
        """
        for root, guest, leaves, structure in self._found:
            now, structure_now = jax.tree.flatten(guest)
            same = structure_now == structure and len(now) == len(leaves)
            if not same or any(a is not b for a, b in zip(leaves, now, strict=True)):
                name = Parameters(function)[root] if isinstance(root, int) else root
                raise ForeignModuleError(title, place_name((name,)), type(guest).__name__)


def _guests_in(value: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    # What one of our own objects holds is written back with it.
    leaves = jax.tree.leaves(value, is_leaf=lambda each: isinstance(each, kinds) or is_object(each))
    return (each for each in leaves if isinstance(each, kinds))
