"""What was wrong with a jitted call that jax refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax

from typed_nnx._transforms.argnums import parameters_of
from typed_nnx._transforms.callables import describe
from typed_nnx._transforms.gather import Call, Place
from typed_nnx._transforms.places import place_name
from typed_nnx.errors import DonatedAliasError, UnhashableArgumentError


def check_hashable(function: Any, statics: Sequence[tuple[int | str, Any]]) -> None:
    """Raise if a static argument has no hash.

    Raises:
        UnhashableArgumentError: With the position and name of the argument.
    """
    for which, value in statics:
        try:
            hash(value)
        except TypeError:
            name = f"{which!r}" if isinstance(which, str) else _positional_name(function, which)
            raise UnhashableArgumentError(f"jit of {describe(function)}", name, value) from None


def _positional_name(function: Any, number: int) -> str:
    names = [parameter.name for parameter in parameters_of(function)]
    return f"{number} ({names[number]!r})" if number < len(names) else str(number)


def check_donated(function: str, call: Call) -> None:
    """Raise if an array is at two places of a call.

    Raises:
        DonatedAliasError: With the two places.
    """
    found: dict[int, str] = {}
    for array, path in _arrays(call):
        before = found.setdefault(id(array), path)
        if before != path:
            raise DonatedAliasError(function, [before, path]) from None


def _arrays(call: Call) -> Iterator[tuple[Any, str]]:
    for place in call.places:
        yield from _arrays_in(place)
    plain = [
        (number, value)
        for number, value in enumerate(call.args)
        if call.signature.arguments[number] is None
    ]
    named = [(n, value) for n, value in call.kwargs.items() if n not in call.signature.keywords]
    for first, value in (*plain, *named):
        for path, leaf in jax.tree_util.tree_leaves_with_path(value):
            if isinstance(leaf, jax.Array):
                yield leaf, place_name((first,)) + jax.tree_util.keystr(path)


def _arrays_in(place: Place) -> Iterator[tuple[Any, str]]:
    for path, value in zip(place.structure.layout.paths, place.values, strict=True):
        for leaf in jax.tree.leaves(value):
            yield leaf, place_name((*place.path, *path))
