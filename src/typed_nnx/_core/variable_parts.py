"""What a Variable is made of; its methods are in the classes that build on this one."""

from __future__ import annotations

from collections.abc import Callable
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
        _nnx_trace: The jax trace that the Variable belongs to.
        _nnx_cells: The records that it is part of.
    """

    __slots__ = ("__weakref__", "_box", "_meta", "_nnx_cells", "_nnx_trace")

    _box: tuple[A]
    _meta: Metadata
    _nnx_trace: Any
    _nnx_cells: Membership

    @classmethod
    def _make(cls, box: tuple[Any], meta: Metadata) -> Self:
        """Build a Variable from parts that were checked before."""
        made = _new(cls)
        store_box(made, box)
        store_meta(made, meta)
        store_trace(made, context.trace)
        store_cells(made, ())
        return made

    def _refuse(self) -> NoReturn:
        """Raise for a mutation under another trace than the one the Variable belongs to."""
        raise TraceLevelError("Variable", type(self).__name__, None, where(self))


# `variable._box = ...` goes through `Variable.__setattr__`, which exists for the sake of a good
# message; these write the slot itself, several times faster.
store_box: Callable[[Any, tuple[Any]], None] = VariableParts.__dict__["_box"].__set__
store_meta: Callable[[Any, Metadata], None] = VariableParts.__dict__["_meta"].__set__
store_trace: Callable[[Any, Any], None] = VariableParts.__dict__["_nnx_trace"].__set__
store_cells: Callable[[Any, Membership], None] = VariableParts.__dict__["_nnx_cells"].__set__
