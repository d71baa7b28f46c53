"""The arguments of a call, found by position or by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    NONE,
    Const,
    Seq,
    Shape,
    ShapeOf,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    integers_of,
    is_none,
    number_of,
    shape_of,
    text_of,
    wanted_shape,
)
from typed_nnx_codegen.migrate.linen.shapes.ranks import axes_in


@dataclass(frozen=True)
class Starred(Value):
    """Arguments ``*values`` of which it is not known how many there are.

    Attributes:
        value: What is unpacked.
    """

    value: Value


@dataclass(frozen=True)
class Arguments:
    """What a function is called with.

    Attributes:
        positional: By position; for a method the array first.
        named: By keyword.
    """

    positional: tuple[Value, ...]
    named: Mapping[str, Value] = field(default_factory=dict)

    def get(self, position: int | None, *names: str, default: Value = NONE) -> Value:
        """Return an argument, the default where it is not given."""
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return next((self.named[name] for name in names if name in self.named), default)

    def given(self, position: int | None, *names: str) -> bool:
        """Whether an argument is given."""
        by_position = position is not None and position < len(self.positional)
        return by_position or any(name in self.named for name in names)

    def shape(self, position: int, *names: str) -> Shape:
        """Return the shape of an argument as an array."""
        return shape_of(self.get(position, *names))

    def integer(self, position: int | None, *names: str, default: int) -> int | None:
        """Return an argument that is a literal integer; None where it is another."""
        return number_of(self._of_first(self.get(position, *names, default=Const(default))))

    def axes(self, position: int | None, *names: str) -> tuple[int, ...] | None:
        """Return the axes that an argument names; None where they are not literal."""
        return integers_of(self._of_first(self.get(position, *names)))

    def _of_first(self, axes: Value) -> Value:
        """Return axes of the first argument that may be said by its rank."""
        return axes_in(shape_of(self.positional[0]), axes) if self.positional else axes

    def is_none(self, position: int | None, *names: str) -> bool:
        """Whether an argument is None or not given."""
        return is_none(self.get(position, *names))

    def text(self, position: int | None, *names: str) -> str | None:
        """Return an argument that is a literal text; None where it is another."""
        return text_of(self.get(position, *names))

    def flag(self, name: str) -> bool | None:
        """Return a literal flag that is False by default; None where it is not literal."""
        value = self.named.get(name, Const(value=False))
        return value.value if isinstance(value, Const) and isinstance(value.value, bool) else None

    def wanted(self, position: int, *names: str) -> Shape:
        """Return the shape that an argument asks for."""
        return wanted_shape(self.get(position, *names))

    def wanted_of_all(self, start: int, name: str) -> Shape:
        """Return the shape that all arguments from a position on ask for, or the one of them."""
        values = self.positional[start:]
        if not values:
            return wanted_shape(self.get(None, name))
        if len(values) == 1 and not isinstance(values[0], Starred):
            return wanted_shape(values[0])
        return _spliced(values)


def _spliced(values: tuple[Value, ...]) -> Shape:
    # A tuple among several sizes can only be unpacked.
    values = tuple(
        Starred(value) if isinstance(value, ShapeOf | Seq) else value for value in values
    )
    starred = [k for k, value in enumerate(values) if isinstance(value, Starred)]
    if not starred:
        return wanted_shape(Seq(values))
    first = values[0]
    if starred != [0] or not isinstance(first, Starred):
        return ANY_SHAPE
    shape = wanted_shape(first.value)
    last = wanted_shape(Seq(values[1:]))
    return Shape((*shape.dims, *last.dims), shape.lead)


def has_star(values: Iterable[Value]) -> bool:
    """Whether it is not known how many arguments there are."""
    return any(isinstance(value, Starred) for value in values)


Rule = Callable[[Arguments], Value]


def names(text: str) -> tuple[str, ...]:
    """Return the names in a text, for a table of functions that have one rule."""
    return tuple(text.split())
