"""What was wrong with a jitted call that jax refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax

from typed_nnx._transforms.gather import Call, Place, holds_objects
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.places import place_name
from typed_nnx.errors import (
    DeletedArrayError,
    DonatedAliasError,
    StaticModuleError,
    UnhashableArgumentError,
)


def check_hashable(lift: Lift, statics: Sequence[tuple[int | str, Any]]) -> None:
    """Raise if a static argument has no hash.

    Raises:
        UnhashableArgumentError: With the position and name of the argument.
    """
    for which, value in statics:
        try:
            hash(value)
        except TypeError:
            name = repr(which) if isinstance(which, str) else lift.parameters.describe(which)
            raise UnhashableArgumentError(lift.title, name, value) from None


def check_static_objects(lift: Lift, statics: Iterable[tuple[int | str, Any]]) -> None:
    """Raise if a static argument holds objects, whose values would be those of the first call.

    Raises:
        StaticModuleError: With the position and name of the argument.
    """
    for which, value in statics:
        if holds_objects(value):
            name = repr(which) if isinstance(which, str) else lift.parameters.describe(which)
            raise StaticModuleError(lift.title, name, value)


def check_donated(lift: Lift, call: Call) -> None:
    """Raise if an array is at two places of a call, or was donated to an earlier one.

    Raises:
        DonatedAliasError: With the two places.
        DeletedArrayError: With the place.
    """
    found: dict[int, str] = {}
    for array, path in _arrays(lift, call):
        before = found.setdefault(id(array), path)
        if before != path:
            raise DonatedAliasError(lift.title, [before, path]) from None
        if array.is_deleted():
            raise DeletedArrayError(lift.title, path) from None


def _arrays(lift: Lift, call: Call) -> Iterator[tuple[Any, str]]:
    for place in call.places:
        yield from _arrays_in(place)
    plain = [
        (lift.parameters[number], value)
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
