"""Plain mutable containers below an object: nobody tells us of a change in them, so we look."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import is_
from typing import Any, NamedTuple

from typed_nnx._core.nodes import LEAF, Spec, kind_of, one_level
from typed_nnx._core.state import State

_MISSING: Any = object()


class Watched(NamedTuple):
    """A plain mutable container and the children it had."""

    container: Any
    spec: Spec
    children: list[Any]


class Watch:
    """Says whether containers still have what they had.

    The dicts of an optimizer's state are many and small, and each call of a compiled function asks:
    all of them, and those inside States, are compared in a few passes that do not leave C.

    Args:
        watched: The containers; at least one.
    """

    __slots__ = ("_dicts", "_keys", "_others", "_sizes", "_values", "_watched")

    def __init__(self, watched: Sequence[Watched]) -> None:
        self._watched = watched
        self._dicts: list[dict[Any, Any]] = []
        self._others: list[Watched] = []
        for each in watched:
            if type(each.container) is dict:
                self._dicts.append(each.container)
            elif type(each.container) is State:
                self._dicts.append(each.container._mapping)
            else:
                self._others.append(each)
        self._remember()

    def _remember(self) -> None:
        self._sizes = list(map(len, self._dicts))
        self._keys = list(chain.from_iterable(self._dicts))
        self._values = list(chain.from_iterable(map(dict.values, self._dicts)))

    def holds(self) -> bool:
        """Whether no container has other children; arrays may have been replaced."""
        if self._dicts_are_same():
            return all(map(_is_unchanged, self._others))
        if not all(map(_is_unchanged, self._watched)):
            return False
        self._remember()
        return True

    def _dicts_are_same(self) -> bool:
        # By identity: `==` of arrays has no truth, and 1 == True.
        return (
            list(map(len, self._dicts)) == self._sizes
            and all(map(is_, chain.from_iterable(self._dicts), self._keys))
            and all(map(is_, chain.from_iterable(map(dict.values, self._dicts)), self._values))
        )


def _is_unchanged(watched: Watched) -> bool:
    """Whether a container still has the children that it had; arrays may have been replaced."""
    container, spec, children = watched
    found, treedef = _entries(container)
    if treedef != spec.treedef or len(found) != len(spec.names) + len(spec.statics):
        return False
    for index, (name, old) in enumerate(zip(spec.names, children, strict=True)):
        new = found.get(name, _MISSING)
        if new is old:
            continue
        # A slot reads a list or dict itself, but of other containers only what they had.
        if spec.treedef is not None or kind_of(new) != LEAF or kind_of(old) != LEAF:
            return False
        children[index] = new
    return all(found.get(name, _MISSING) is value for name, value in spec.statics)


def _entries(container: Any) -> tuple[dict[Any, Any], Any]:
    if type(container) is dict:
        return container, None
    if type(container) is list:
        return dict(enumerate(container)), None
    entries, treedef = one_level(container)
    return dict(entries), treedef
