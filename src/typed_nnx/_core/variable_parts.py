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
        _flat: The value in a list of one, the box, and the metadata: exactly what jax asks for when
            it flattens, so that it gets it without a Python call. A Variable keeps its box for life.
        _nnx_trace: The jax trace that the Variable belongs to.
        _nnx_cells: The records that it is part of; unset (and then found empty) until it is in one.
    """

    __slots__ = ("__weakref__", "_flat", "_nnx_cells", "_nnx_trace")

    _flat: tuple[list[A], Metadata]
    _nnx_trace: Any
    _nnx_cells: Membership

    @property
    def _raw(self) -> A:
        return self._flat[0][0]

    @property
    def _meta(self) -> Metadata:
        return self._flat[1]

    @classmethod
    def _make(cls, value: Any, meta: Metadata) -> Self:
        """Build a Variable from parts that were checked before."""
        made = _new(cls)
        store_flat(made, ([value], meta))
        store_trace(made, context.trace)
        return made

    def _refuse(self) -> NoReturn:
        """Raise for a mutation under another trace than the one the Variable belongs to."""
        raise TraceLevelError("Variable", type(self).__name__, None, where(self))


# Assignment goes through `Variable.__setattr__`, which exists for the sake of a good message; these
# write the slot itself, several times faster.
store_flat: Callable[[Any, tuple[list[Any], Metadata]], None] = VariableParts.__dict__[
    "_flat"
].__set__
store_trace: Callable[[Any, Any], None] = VariableParts.__dict__["_nnx_trace"].__set__
store_cells: Callable[[Any, Membership], None] = VariableParts.__dict__["_nnx_cells"].__set__


def store_value(variable: VariableParts[Any], value: Any) -> None:
    """Replace the raw value of a Variable and tell the records."""
    variable._flat[0][0] = value
    for cell in variable._nnx_cells:
        cell.values = None


def store_meta(variable: VariableParts[Any], meta: Metadata) -> None:
    """Replace the metadata of a Variable."""
    store_flat(variable, (variable._flat[0], meta))
