"""The classes below a class, of which an object that is declared as the class may be."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.nodes import TypeInfo

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.names import runtime_of


def known_subclasses(info: TypeInfo, checker: Checker) -> Iterator[TypeInfo]:
    """Yield the classes below a class where it and its use are written.

    Which other modules mypy has read depends on its cache.
    """
    for module in (checker.tree, checker.api.modules.get(info.module_name)):
        for symbol in module.names.values() if module is not None else ():
            other = symbol.node
            if isinstance(other, TypeInfo) and other is not info and info in other.mro:
                yield other


def may_be_subclass(info: TypeInfo, checker: Checker) -> bool:
    """Tell whether an object of a class of a user may well be of one below it."""
    if runtime_of(info.fullname):
        return False
    if info.is_abstract or info.is_protocol:
        return True
    return any(True for _ in known_subclasses(info, checker))
