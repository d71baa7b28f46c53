"""What expressions in the methods of a Linen module stand for while they are gone through.

Shapes are read from the end, since code mostly does: an array that is an argument has any rank
until something asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.dims import (
    ArgumentShape,
    ArgumentSize,
    Atom,
    Binders,
    Dim,
    LeadingSize,
    as_dim,
    loops_of,
    placed,
    product,
)


class Value:
    """What an expression stands for."""

    __slots__ = ()


@dataclass(frozen=True)
class Made:
    """Where something comes from that is a module if it is called.

    Attributes:
        call: The call that returned it, of a field, of a function that names classes of modules, or
            of a class of another package.
        cls: The public name of that class; empty for the others.
    """

    call: cst.Call
    cls: str = ""


@dataclass(frozen=True)
class Unknown(Value):
    """Anything.

    Attributes:
        why: What made it unknown, for the marker; may be empty.
        made: What returned it, where it may be a module; None for other things.
    """

    why: str = ""
    made: Made | None = field(default=None, compare=False, kw_only=True)


UNKNOWN: Final = Unknown()


@dataclass(frozen=True)
class Position(Unknown):
    """The number of an iteration over submodules that a loop makes.

    Attributes:
        loop: That loop.
        also: The loops that make them in other branches.
    """

    loop: int = 0
    also: tuple[int, ...] = ()


@dataclass(frozen=True)
class OfShapes(Unknown):
    """What an expression computes of nothing but fields and whole shapes of arguments.

    Only first values of variables may have it in them: elsewhere it is as good as unknown.

    Attributes:
        code: The expression in the constructor, a template; safe as an operand.
        binders: What binds the names in it.
    """

    code: str = ""
    binders: Binders = ()


@dataclass(frozen=True)
class OfRank(OfShapes):
    """How many dimensions an array has, and a number more: ``x.ndim - 1``.

    As an axis of an array with the dimensions of the same argument it is counted from the end.

    Attributes:
        argument: The expression of the argument.
        plus: How many more than the argument has.
    """

    argument: str = ""
    plus: int = 0


@dataclass(frozen=True)
class Const(Value):
    """A literal: None, bool, int, float, str, Ellipsis.

    Attributes:
        value: The literal.
        code: The expression in the constructor that computes it; empty to write the literal.
        binders: What binds the names in the expression.
    """

    value: object
    code: str = ""
    binders: Binders = ()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


NONE: Final = Const(None)


@dataclass(frozen=True)
class Size(Value):
    """An integer that is known symbolically.

    Attributes:
        dim: The integer.
    """

    dim: Dim


# What a setting surely is; empty for what it may be otherwise.
Holds = Literal["", "number", "shape", "text"]


@dataclass(frozen=True)
class Code(Value):
    """Something that an expression computes where the module is constructed: a field, a setting.

    Attributes:
        code: The expression; safe as an operand (name, attribute, call, or in parentheses).
        binders: What binds the names in it.
        holds: What it surely is: a field that is said to be an ``int``, a tuple of ``int`` or a ``str``.
        made: What returned it, as something unknown has it.
    """

    code: str
    binders: Binders = ()
    holds: Holds = field(default="", compare=False)
    made: Made | None = field(default=None, compare=False, kw_only=True)


def is_text(value: Value) -> bool:
    """Whether a value is surely a text."""
    match value:
        case Const(value=str()) | Code(holds="text"):
            return True
    return False


def made_by(value: Value) -> Made | None:
    """Return what may have made a module of which nothing is known; None for none."""
    return value.made if isinstance(value, Code | Unknown) else None


def is_of_elsewhere(value: Value) -> bool:
    """Whether a value is an object of a class of another package."""
    made = made_by(value)
    return made is not None and bool(made.cls)


@dataclass(frozen=True)
class Lead:
    """Leading dimensions that are not looked at one by one: ``(*front, *x.shape[start:stop])``.

    Attributes:
        argument: The expression of the argument whose dimensions they are; empty if not known.
        stop: Where they end, negative; None for all of them.
        start: Where they begin.
        front: What is before the dimensions of the argument.
        sure: How many dimensions of the argument there are at least, where code may have taken
            all of them: ``x[:, None]`` ends in 1 or in a size of ``x``. None where whatever asks
            for one may rely on it.
    """

    argument: str
    stop: int | None
    start: int = 0
    front: tuple[Dim | None, ...] = ()
    sure: int | None = None

    @property
    def sizes(self) -> Dim:
        """The dimensions of the argument, in the place of a size."""
        return as_dim(ArgumentShape(self.argument, self.start, self.stop))

    def last(self, count: int) -> tuple[Dim | None, ...]:
        """Return its last dimensions, all of the argument."""
        if not self.argument:
            return (None,) * count
        stop = self.stop or 0
        return tuple(as_dim(ArgumentSize(self.argument, stop - count + k)) for k in range(count))


@dataclass(frozen=True)
class Shape:
    """The shape of an array.

    Attributes:
        dims: The last dimensions; None for one that is not known.
        lead: What is before them; None where `dims` is all.
    """

    dims: tuple[Dim | None, ...]
    lead: Lead | None = None

    @property
    def rank(self) -> int | None:
        """How many dimensions there are; None if not known."""
        return None if self.lead is not None else len(self.dims)

    def expanded(self, count: int) -> Shape:
        """Return it with at least so many last dimensions one by one, where it has a lead."""
        missing = count - len(self.dims)
        lead = self.lead
        if missing <= 0 or lead is None:
            return self
        if not lead.argument:
            return Shape((*lead.last(missing), *self.dims), lead)
        if lead.sure is not None and missing > lead.sure:
            first = self._placed(count)[: missing - lead.sure]
            return Shape((*first, *lead.last(lead.sure), *self.dims), Lead("", None))
        sure = None if lead.sure is None else lead.sure - missing
        shorter = replace(lead, stop=(lead.stop or 0) - missing, sure=sure)
        return Shape((*lead.last(missing), *self.dims), shorter)

    def _placed(self, count: int) -> tuple[Dim | None, ...]:
        """Return its last dimensions by their place, where all but their number is known."""
        shape = self.collapsed()
        lead = shape.lead
        known = () if lead is None else tuple(dim for dim in lead.front if dim is not None)
        if lead is None or shape.dims or lead.stop is not None or len(known) != len(lead.front):
            return (None,) * count
        leading = LeadingSize(lead.argument, lead.start, None)
        return tuple(placed(leading, (), axis, known) for axis in range(-count, 0))

    def collapsed(self) -> Shape:
        """Return it with as many dimensions as possible in the lead."""
        lead = self.lead
        dims = self.dims
        while lead and lead.argument and lead.stop and dims:
            if dims[0] != as_dim(ArgumentSize(lead.argument, lead.stop)):
                break
            sure = None if lead.sure is None else lead.sure + 1
            lead, dims = replace(lead, stop=lead.stop + 1 or None, sure=sure), dims[1:]
        return Shape(dims, lead)

    def with_rank(self, rank: int) -> Shape | None:
        """Return it with a rank that is known; None where it cannot have that rank."""
        if self.lead is None:
            return self if len(self.dims) == rank else None
        missing = rank - len(self.dims) - len(self.lead.front)
        if missing < 0:
            return None
        return Shape((*self.lead.front, *self.lead.last(missing), *self.dims))

    def axis(self, axis: int) -> Dim | None:
        """Return the size along an axis; None if not known."""
        if axis < 0:
            shape = self.expanded(-axis)
            return shape.dims[axis] if -axis <= len(shape.dims) else None
        if self.lead is None:
            return self.dims[axis] if axis < len(self.dims) else None
        front = self.lead.front
        if axis < len(front):
            return front[axis]
        # Arrays have two axes or more in most code, so that the first is not the last one.
        first = axis == 0 and self.lead.sure != 0 and self.lead.stop in (None, -1)
        dims, lead = self.collapsed().dims, self.collapsed().lead or self.lead
        if lead.argument and (first or not dims):
            return as_dim(ArgumentSize(lead.argument, lead.start + axis - len(front)))
        last = [dim for dim in dims if dim is not None]
        if lead.argument and lead.sure is None and len(last) == len(dims):
            leading = LeadingSize(lead.argument, lead.start, lead.stop)
            return placed(leading, last, axis - len(front))
        return None

    def size_from(self, start: int) -> Dim | None:
        """Return the product of the dimensions from an axis (counted from the front) on."""
        shape = self.collapsed()
        lead = shape.lead
        front = () if lead is None else lead.front[start:]
        known = [dim for dim in (*front, *shape.dims) if dim is not None]
        if len(known) != len(shape.dims) + len(front):
            return None
        if lead is None:
            return product(known[start:])
        beyond = max(start - len(lead.front), 0)
        if not lead.argument or (beyond > 1 and shape.dims):
            return None
        return product(known) * as_dim(LeadingSize(lead.argument, lead.start + beyond, lead.stop))


ANY_SHAPE: Final = Shape((), Lead("", None))


OPEN: Final = "..."


@dataclass(frozen=True)
class Passed:
    """An argument of a call.

    Attributes:
        value: What it stands for.
        code: Its expression where modules are constructed (with names of `expr.Slots` in it); None
            where it depends on what a method is called with.
        node: It as it is written.
        keyword: Its keyword; empty if it has none.
        star: `*` or `**` before it.
        hidden: Whether something that is called has it already: a partial in a field.
        place: The frame of the method in which it is written, where it depends on a call.
    """

    value: Value
    code: str | None
    node: cst.BaseExpression
    keyword: str = ""
    star: str = ""
    hidden: bool = False
    place: object = None


@dataclass(frozen=True)
class Array(Value):
    """An array of jax or numpy.

    Attributes:
        shape: Its shape.
        dtype: The expression of its dtype, where known; empty for any.
        origin: Its expression over the parameters of the method where it is just an argument or
            part of one; empty otherwise.
        is_optional: Whether it may be None: an argument whose default is None.
        without: The axes that transforms take off each array of the argument.
        made: The local of the constructor that has the same numbers, where sizes decide them all.
        of_shapes: Whether that local reads whole shapes, which only first values may.
        condition: The condition of the branch of the constructor that decides whether it is None
            instead; `OPEN` where something else decides.
        is_said: Whether it is an argument that its type says to be an array.
    """

    shape: Shape = ANY_SHAPE
    dtype: str = ""
    origin: str = ""
    is_optional: bool = False
    without: tuple[int, ...] = ()
    made: str = ""
    of_shapes: bool = False
    condition: str = ""
    is_said: bool = False


@dataclass(frozen=True)
class ShapeOf(Value):
    """The shape of an array, as a tuple.

    Attributes:
        shape: The shape.
    """

    shape: Shape


@dataclass(frozen=True)
class CodeTuple(Code):
    """A tuple of sizes that begins with those of a field.

    Attributes:
        shape: What is known of it as a shape: its last sizes.
        is_sure: Whether it is surely a tuple: not a field that only its type says to be one.
    """

    shape: Shape = ANY_SHAPE
    is_sure: bool = False


@dataclass(frozen=True)
class CodeList(Code):
    """A list of numbers that a comprehension computes.

    Attributes:
        count: How many there are.
    """

    count: Dim = field(default_factory=lambda: as_dim(0))


@dataclass(frozen=True)
class Seq(Value):
    """A tuple or list whose items are known.

    Attributes:
        items: The items.
        is_list: Whether it is a list.
    """

    items: tuple[Value, ...]
    is_list: bool = False


@dataclass(frozen=True)
class Remaining(Value):
    """What a method gets behind its parameters by position: `*args`, of any number.

    Attributes:
        name: What the method calls it.
        start: How many of them are left out.
    """

    name: str
    start: int = 0

    def item(self, place: int) -> Array:
        """Return one of the arguments, where there are so many."""
        part = f"{self.name}[{self.start + place}]"
        return Array(Shape((), Lead(part, None)), origin=part)


@dataclass(frozen=True)
class Slice(Value):
    """A slice in a subscript: ``start:stop:step``; what is left out is `NONE`.

    Attributes:
        start: Where it begins.
        stop: Where it ends.
        step: Its step.
    """

    start: Value = NONE
    stop: Value = NONE
    step: Value = NONE


@dataclass(frozen=True)
class Table(Value):
    """A dict with literal keys, or an object with known fields.

    Attributes:
        items: The values by key.
        cls: The class of the object, where the project defines it.
        code: The name that a file has it by; empty for one that is made here.
        binders: What binds that name.
    """

    items: Mapping[object, Value] = field(default_factory=dict)
    cls: object = None
    code: str = field(default="", compare=False)
    binders: Binders = field(default=(), compare=False)

    def __hash__(self) -> int:
        return hash(tuple(self.items.items()))


def with_sizes(value: Value, changed: Callable[[Dim], Dim | None]) -> Value:
    """Return a value with other sizes in its arrays.

    Args:
        value: The value.
        changed: Gives the size in the place of another one; None where it is not known.
    """
    match value:
        case Array(shape=shape):
            dims = tuple(None if dim is None else changed(dim) for dim in shape.dims)
            return replace(value, shape=Shape(dims, shape.lead))
        case Seq(items=items):
            return replace(value, items=tuple(with_sizes(one, changed) for one in items))
        case Table(items=table):
            there = {key: with_sizes(one, changed) for key, one in table.items()}
            return replace(value, items=there)
    return value


def with_binders(value: Value, binding: Mapping[int, int | str]) -> Value:
    """Return a value whose sizes other loops bind.

    Args:
        value: The value.
        binding: The loops, or what else binds names, in the place of others.
    """

    def bound(dim: Dim) -> Dim:
        atoms: dict[Atom, Dim] = {
            one: as_dim(
                replace(one, binders=tuple(_in_place(binding, each) for each in one.binders))
            )
            for one in dim.pieces()
            if not binding.keys().isdisjoint(loops_of(one.binders))
        }
        return dim.replaced(atoms)

    return with_sizes(value, bound) if binding else value


def _in_place(binding: Mapping[int, int | str], binder: str | int) -> str | int:
    return binding.get(binder, binder) if isinstance(binder, int) else binder


def is_known(value: Value) -> bool:
    """Whether anything is known of a value."""
    return not isinstance(value, Unknown)
