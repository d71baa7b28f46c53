"""What may change below an object without telling: it is looked at whenever a record is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import is_
from typing import Any, NamedTuple

from typed_nnx._core.nodes import LEAF, GraphNode, Spec, kind_of, one_level
from typed_nnx._core.state import State
from typed_nnx._core.static_keys import content_key

_MISSING: Any = object()


class Watched(NamedTuple):
    """A plain mutable container, or an object that writes past our `__setattr__`, and its children."""

    container: Any
    spec: Spec
    children: list[Any]


class Watch:
    """Says whether containers and static values still are what they were.

    The dicts of an optimizer's state are many and small, and each call of a compiled function asks:
    all of them, and those inside States, are compared in a few passes that do not leave C.

    Args:
        watched: The containers.
        mutable: Static values with the keys of their content.
    """

    __slots__ = ("_dicts", "_keys", "_mutable", "_others", "_sizes", "_values", "_watched")

    def __init__(self, watched: Sequence[Watched], mutable: Iterable[tuple[Any, Any]]) -> None:
        self._watched = watched
        self._mutable = list(mutable)
        self._dicts: list[dict[Any, Any]] = []
        self._others: list[Watched] = []
        for each in watched:
            if type(each.container) is dict:
                self._dicts.append(each.container)
            elif type(each.container) is State:
                self._dicts.append(each.container._mapping)
            elif isinstance(each.container, GraphNode):
                self._dicts.append(each.container.__dict__)
            else:
                self._others.append(each)
        self._remember()

    def _remember(self) -> None:
        self._sizes = list(map(len, self._dicts))
        self._keys = list(chain.from_iterable(self._dicts))
        self._values = list(chain.from_iterable(map(dict.values, self._dicts)))

    def holds(self) -> bool:
        """Whether all is as it was; arrays may have been replaced."""
        if not all(content_key(value) == key for value, key in self._mutable):
            return False
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


def _entries(container: Any) -> tuple[Mapping[Any, Any], Any]:
    if isinstance(container, GraphNode):
        return container._nnx_entries(), None
    if type(container) is dict:
        return container, None
    if type(container) is list:
        return dict(enumerate(container)), None
    entries, treedef = one_level(container)
    return dict(entries), treedef
