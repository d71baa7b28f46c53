"""`VariableState`: what Variables inside States were called before they were the Variables."""

from __future__ import annotations

from typing import Any

from typed_nnx._core.variable import Variable


class _AnyVariable(type):
    """Makes every Variable an instance, as code that was written for the old States expects."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Variable)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, Variable)


class VariableState(metaclass=_AnyVariable):
    """The older name of a Variable in a State; making one gives a Variable of the type it names."""

    def __new__(cls, type: type[Variable[Any]], value: Any, **metadata: Any) -> Any:  # noqa: A002 -- the old signature
        """Return a Variable.

        Args:
            type: The Variable type.
            value: The raw value.
            **metadata: The metadata.
        """
        return type.from_metadata(value, metadata)
