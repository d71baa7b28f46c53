"""What a Variable is made of; its methods are in the classes that build on this one."""

from __future__ import annotations

from typing import Any, Generic, NoReturn, Self, TypeVar

from typed_nnx._core.cells import Membership
from typed_nnx._core.locate import where
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.trace import context
from typed_nnx.errors import TraceLevelError

A = TypeVar("A")

_new = object.__new__


class VariableParts(Generic[A]):
    """The slots of a Variable.

    Attributes:
        _box: The value in a 1-tuple: exactly what jax asks for when it flattens, without a Python
            call.
        _meta: The metadata.
        _trace: The jax trace that the Variable belongs to.
        _cells: The records that it is part of.
    """

    __slots__ = ("__weakref__", "_box", "_cells", "_meta", "_trace")

    _box: tuple[A]
    _meta: Metadata
    _trace: Any
    _cells: Membership

    @classmethod
    def _make(cls, box: tuple[Any], meta: Metadata) -> Self:
        """Build a Variable from parts that were checked before."""
        made = _new(cls)
        made._box = box
        made._meta = meta
        made._trace = context.trace
        made._cells = ()
        return made

    def _refuse(self) -> NoReturn:
        """Raise for a mutation under another trace than the one the Variable belongs to."""
        raise TraceLevelError("Variable", type(self).__name__, None, where(self))
