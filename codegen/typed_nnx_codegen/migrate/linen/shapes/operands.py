"""Reads values as a function takes them: sizes, axes, shapes, arrays, and the arguments of its call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.dims import (
    ArgumentSize,
    Atom,
    Binders,
    Combined,
    Dim,
    LeadingSize,
    NamedNumber,
    Piece,
    as_dim,
    bound_by,
    held_shape,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    UNKNOWN,
    Array,
    Code,
    CodeTuple,
    Const,
    Lead,
    OfRank,
    Passed,
    Remaining,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Unknown,
    Value,
)

SCALAR: Final = Shape(())
A_NUMBER: Final = Array(SCALAR)
# Code that makes an array of what may be a list.
_ARRAY_OF: Final = re.compile(r"\(?[\w.]+\.(array|asarray)\(")


def dim_of(value: Value) -> Dim | None:
    """Return the integer that a value stands for, as a size; None where it is none."""
    match value:
        case Size(dim=dim):
            return dim
        case Const(value=int() as number, code=code, binders=binders) if number is not True:
            return as_dim(NamedNumber(code, binders, number) if code and number > 1 else number)
        case Code(code=code, binders=binders):
            return as_dim(Piece(code, binders))
    return None


def number_of(value: Value) -> int | None:
    """Return the literal integer that a value is; None where it is none."""
    match value:
        case Const(value=int() as number) if not isinstance(number, bool):
            return number
        case Size(dim=dim):
            return dim.constant
    return None


def size_value(dim: Dim | None) -> Value:
    """Return a size as a value: a literal where it is one."""
    if dim is None:
        return Unknown("a dimension is not known")
    return Size(dim) if dim.constant is None else Const(dim.constant)


def if_known(function: Callable[..., Dim], *dims: Dim | None) -> Dim | None:
    """Return what a function makes of sizes; None where one of them is not known."""
    known = [dim for dim in dims if dim is not None]
    return function(*known) if len(known) == len(dims) else None


def is_none(value: Value) -> bool:
    """Whether a value is the literal None."""
    return isinstance(value, Const) and value.value is None


def text_of(value: Value) -> str | None:
    """Return the literal text that a value is; None where it is none."""
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def items_of(value: Value) -> tuple[Value, ...] | None:
    """Return the items of a tuple, list or shape; None where they are not known one by one."""
    if isinstance(value, Seq):
        return value.items
    if isinstance(value, ShapeOf) and value.shape.lead is None:
        return tuple(size_value(dim) for dim in value.shape.dims)
    return None


def integers_of(value: Value) -> tuple[int, ...] | None:
    """Return literal integers, of one or of a sequence; None where they are not known."""
    single = number_of(value)
    if single is not None:
        return (single,)
    items = items_of(value)
    numbers = [number_of(item) for item in items] if items is not None else [None]
    known = tuple(number for number in numbers if number is not None)
    return known if len(known) == len(numbers) else None


def wanted_shape(value: Value) -> Shape:
    """Return the shape that an argument `shape=` asks for; -1 stays a constant in it."""
    match value:
        case ShapeOf(shape=shape) | CodeTuple(shape=shape):
            return shape
        case Seq(items=items):
            return Shape(tuple(dim_of(item) for item in items))
        case Size() | Const(value=int()):
            return Shape((dim_of(value),))
        case Code(code=code, binders=(), holds="shape"):
            return Shape((), Lead(held_shape(code), None))
    return ANY_SHAPE


def shape_of(value: Value) -> Shape:
    """Return the shape of what a function makes an array of; any where it is not known."""
    match value:
        case Array(shape=shape):
            return shape
        case Code(code=code) if _ARRAY_OF.match(code):
            return ANY_SHAPE
        case Const(value=bool() | int() | float() | complex()) | Size() | Code():
            return SCALAR
        case ShapeOf(shape=shape):
            return Shape((None if shape.rank is None else as_dim(shape.rank),))
        case Seq(items=items):
            return _nested(items)
    return ANY_SHAPE


def _nested(items: tuple[Value, ...]) -> Shape:
    if not items:
        return Shape((as_dim(0),))
    shapes = [shape_of(item) for item in items]
    best = min(shapes, key=lambda shape: (shape.lead is not None, shape.dims.count(None)))
    if best.lead is None:
        return Shape((as_dim(len(items)), *best.dims))
    return Shape(
        best.dims,
        # The rank is not known: what is before the argument's dimensions is one more.
        prefixed((as_dim(len(items)),), best).lead,
    )


def prefixed(dims: Iterable[Dim | None], shape: Shape) -> Shape:
    """Return a shape with dimensions before its first."""
    lead = shape.lead
    if lead is None:
        return Shape((*dims, *shape.dims))
    lead = with_front(lead, [*dims, *lead.front])
    if lead.front and lead.sure is None:
        # What is asked for from the end may be one of the first dimensions.
        lead = replace(lead, sure=0 if shape.dims else 1)
    return Shape(shape.dims, lead)


def with_front(lead: Lead, front: list[Dim | None]) -> Lead:
    """Return a lead with dimensions before those of its argument, as few as possible."""
    start, sure = lead.start, lead.sure
    while lead.argument and start and front:
        if front[-1] != as_dim(ArgumentSize(lead.argument, start - 1)):
            break
        front.pop()
        start -= 1
        sure = None if sure is None else sure + 1
    if not start and not front:
        sure = None
    return Lead(lead.argument, lead.stop, start, tuple(front), sure)


def code_of(value: Value) -> tuple[str, Binders] | None:
    """Return an expression for a value and what binds its names; None where there is none."""
    match value:
        case Code(code=code, binders=binders):
            return code, binders
        case Const(value=literal) if literal is not ...:
            text = repr(literal)
            return (f"({text})" if text.startswith("-") else text), ()
        case Size(dim=dim):
            return _code_of_size(dim)
        case Seq(items=items, is_list=is_list):
            return _code_of_items(items, is_list=is_list)
    return None


def _code_of_size(dim: Dim) -> tuple[str, Binders] | None:
    atoms = list(dim.atoms())
    pieces = [atom for atom in atoms if isinstance(atom, Piece)]
    if not pieces or len(pieces) < len(atoms):
        return None
    simple = dim.atom is not None and not isinstance(dim.atom, Combined)
    return (dim.code() if simple else f"({dim.code()})"), bound_by(*(one.binders for one in pieces))


def _code_of_items(items: tuple[Value, ...], *, is_list: bool) -> tuple[str, Binders] | None:
    codes = [code_of(item) for item in items]
    known = [code for code in codes if code is not None]
    if len(known) != len(codes):
        return None
    binders = bound_by(*(one for _, one in known))
    inside = ", ".join(code for code, _ in known)
    if is_list:
        return f"[{inside}]", binders
    return (f"({inside},)" if len(known) == 1 else f"({inside})"), binders


# How many of the last dimensions of two arguments are told apart.
_EXPANDED: Final = 3


def rank_size(shape: Shape) -> Value:
    """Return the number of dimensions."""
    if shape.rank is not None:
        return Const(shape.rank)
    lead = shape.lead
    if lead is None or not lead.argument:
        return Unknown("the rank is not known")
    plus = len(shape.dims) + len(lead.front) - lead.start + (lead.stop or 0)
    return OfRank("the rank is not known", argument=lead.argument, plus=plus)


def moved_by(rank: OfRank, number: int) -> OfRank:
    """Return a number of dimensions with a number added; its own code says no more."""
    return replace(rank, plus=rank.plus + number, code="")


def place_in(shape: Shape, value: Value) -> int | None:
    """Return the axis of a shape, or the end of its dimensions, that a value names; None if unknown."""
    if not isinstance(value, OfRank):
        return number_of(value)
    rank = rank_size(shape)
    if not isinstance(rank, OfRank) or rank.argument != value.argument:
        return None
    place = value.plus - rank.plus
    return place if place < 0 else None


def axes_in(shape: Shape, value: Value) -> Value:
    """Return axes of a shape with those counted from the end that are said by its rank."""
    if isinstance(value, OfRank):
        place = place_in(shape, value)
        return value if place is None else Const(place)
    items = items_of(value)
    if isinstance(value, Seq) and items and any(isinstance(one, OfRank) for one in items):
        return replace(value, items=tuple(axes_in(shape, one) for one in items))
    return value


def aligned(one: Shape, other: Shape) -> tuple[Shape, Shape]:
    """Return two shapes with the same number of dimensions one by one, from the end."""
    one, other = _with_equal_ranks(one, other)
    count = max(len(one.dims), len(other.dims), _EXPANDED if one.lead != other.lead else 0)
    first, second = one.expanded(count), other.expanded(count)
    if len(first.dims) == len(second.dims):
        return first, second
    count = min(len(first.dims), len(second.dims))
    return _cut(first, count), _cut(second, count)


def _cut(shape: Shape, count: int) -> Shape:
    if len(shape.dims) == count and shape.lead is not None:
        return shape
    return Shape(shape.dims[len(shape.dims) - count :], Lead("", None))


def _with_equal_ranks(one: Shape, other: Shape) -> tuple[Shape, Shape]:
    """Return two shapes of the same rank, which only one of them may say.

    It says the rank of the argument that the other one is made of, too: sizes of that one are
    counted from the end then. Its own are not: where it is made the argument may have another rank,
    `if x.ndim > 3: x = x.reshape(...)`.
    """
    if (one.rank is None) == (other.rank is None):
        return one, other
    told, known = (one, other) if one.rank is None else (other, one)
    rank, plus = known.rank or 0, rank_size(told)
    told_of = told.with_rank(rank) or told
    if isinstance(plus, OfRank):
        told_of = _from_end(told_of, plus.argument, rank - plus.plus)
    return (told_of, known) if told is one else (known, told_of)


def _from_end(shape: Shape, argument: str, rank: int) -> Shape:
    """Return a shape with the sizes of an argument counted from the end."""
    dims = tuple(
        None if dim is None else dim.replaced(dict(_settled(dim, argument, rank)))
        for dim in shape.dims
    )
    return replace(shape, dims=dims)


def _settled(dim: Dim, argument: str, rank: int) -> Iterator[tuple[Atom, Dim]]:
    """Yield the parts of a size that are sizes of an argument of which the rank is known now."""
    for atoms, _ in dim.terms:
        for atom in atoms:
            match atom:
                case ArgumentSize(argument=name, axis=axis) if name == argument and axis >= 0:
                    yield atom, as_dim(ArgumentSize(argument, axis - rank))
                case Combined(operation="at"):
                    found = _placed(atom, argument, rank)
                    if found is not None:
                        yield atom, found
                case Combined(parts=parts):
                    for part in parts:
                        yield from _settled(part, argument, rank)


def _placed(atom: Combined, argument: str, rank: int) -> Dim | None:
    """Return a size that is said by its place among those of an argument; None for another one."""
    place, count, leading, *around = atom.parts
    at, front = place.constant, count.constant or 0
    match leading.atom:
        case LeadingSize(argument=name, start=start, stop=stop) if name == argument:
            axes = range(start - rank, stop or 0)
            sizes = [*around[:front], *(as_dim(ArgumentSize(argument, k)) for k in axes)]
            sizes += around[front:]
            if at is not None and -len(sizes) <= at < len(sizes):
                return sizes[at].replaced(dict(_settled(sizes[at], argument, rank)))
    return None


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

    def integer(self, position: int | None, *names: str, default: int) -> int | None:
        """Return an argument that is a literal integer; None where it is another."""
        value = self.get(position, *names, default=Const(default))
        return number_of(axes_in(self.first, value))

    @property
    def first(self) -> Shape:
        """The shape of the first argument: axes may be said by its rank."""
        return shape_of(self.positional[0]) if self.positional else ANY_SHAPE


Rule = Callable[[Arguments], Value]
# What a parameter of a rule is: literal axes, the shape that an argument `shape=` asks for.
Axes = tuple[int, ...]
Wanted = Shape
_Result = Shape | Value | Sequence[Shape]


_OF_ANY_SHAPE: Final = Array()


class _Unclear(Exception):
    """An argument that is not literal decides about the shape."""


def rule(
    function: Callable[..., _Result],
    parameters: str = "",
    dtype: str = "",
    unclear: Value = _OF_ANY_SHAPE,
) -> Rule:
    """Return a rule that reads its arguments as the types of the parameters of a function say.

    Args:
        function: Makes a shape, several or another value of shapes, sizes and literals.
        parameters: The names that its parameters have in calls, in the order of positions:
            ``a|operand`` for either, ``_`` for one that it does not take, ``*`` before those without
            a position. By default its own names.
        dtype: The dtype of the result, where that is known.
        unclear: The result where an argument is not the literal that the function takes.
    """
    every = signature(function).parameters.values()
    own = [parameter for parameter in every if parameter.kind is not Parameter.KEYWORD_ONLY]
    takes_all = bool(own) and own[-1].kind is Parameter.VAR_POSITIONAL
    words = parameters.split() or [parameter.name for parameter in own]
    stop = words.index("*") if "*" in words else len(words)
    spelled: list[tuple[int | None, list[str]]] = [
        (place if place < stop else None, name.split("|"))
        for place, name in enumerate(words)
        if name not in ("_", "*")
    ]

    def applied(call: Arguments) -> Value:
        try:
            read = [
                _read(parameter, call, place, alternatives)
                for parameter, (place, alternatives) in zip(own, spelled, strict=False)
                if parameter.kind is not Parameter.VAR_POSITIONAL
            ]
            if takes_all:
                rest = call.positional[len(own) - 1 :]
                read += [_as_type(str(own[-1].annotation), one, call.first) for one in rest]
        except _Unclear:
            return unclear
        return _as_value(function(*read), dtype)

    return applied


def _read(parameter: Parameter, call: Arguments, place: int | None, names: list[str]) -> object:
    value = call.get(place, *names, default=_MISSING)
    if value is _MISSING:
        if parameter.default is not Parameter.empty:
            return parameter.default
        value = NONE
    return _as_type(str(parameter.annotation), value, call.first)


_MISSING: Final = Unknown("no argument")


def _as_type(annotation: str, value: Value, first: Shape) -> object:
    """Return a value as the type of a parameter; None is one where the type says so."""
    kind, _, optional = annotation.partition(" | ")
    if optional and is_none(value):
        return None
    read: object = None
    match kind:
        case "Value":
            return value
        case "Shape":
            return shape_of(value)
        case "Wanted":
            return wanted_shape(value)
        case "Dim":
            return dim_of(value)
        case "int":
            read = number_of(axes_in(first, value))
        case "Axes":
            read = integers_of(axes_in(first, value))
        case "bool":
            is_flag = isinstance(value, Const) and isinstance(value.value, bool)
            read = value.value if isinstance(value, Const) and is_flag else None
        case "str":
            read = text_of(value)
    if read is None:
        raise _Unclear
    return read


def _as_value(result: _Result, dtype: str) -> Value:
    if isinstance(result, Shape):
        return Array(result, dtype)
    if isinstance(result, Value):
        return result
    return Seq(tuple(Array(one, dtype) for one in result), isinstance(result, list))


def names(text: str) -> tuple[str, ...]:
    """Return the names in a text."""
    return tuple(text.split())


def by_name(rows: Mapping[str, Rule]) -> dict[str, Rule]:
    """Return the rules of functions by name; a row has the names of several."""
    return {name: one for text, one in rows.items() for name in names(text)}


def wanted_of_all(values: tuple[Value, ...]) -> Shape:
    """Return the shape that arguments ask for, each a size or one of them all."""
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


@dataclass
class BoundArguments:
    """Which parameter each argument is for.

    Attributes:
        by_name: The arguments by parameter.
        extra: Arguments without a parameter.
        is_open: Whether some are not known: `*args`, `**kwargs`.
        remaining: The arguments behind the parameters by position.
    """

    by_name: dict[str, Passed] = field(default_factory=dict)
    extra: list[Passed] = field(default_factory=list)
    is_open: bool = False
    remaining: Value = UNKNOWN


def bind_names(names: Sequence[str], passed: Sequence[Passed]) -> BoundArguments:
    """Return which of some names in the order of positions each argument is for."""
    bound = BoundArguments()
    position = 0
    for one in passed:
        if one.star:
            bound.is_open = True
            bound.extra.append(one)
        elif one.keyword:
            bound.by_name[one.keyword] = one
        elif bound.is_open or position >= len(names):
            bound.extra.append(one)
        else:
            bound.by_name[names[position]] = one
            position += 1
    return bound


def bind(params: cst.Parameters, passed: Sequence[Passed], skip: int = 0) -> BoundArguments:
    """Return which parameter of a function each argument is for.

    Args:
        params: The parameters.
        passed: The arguments.
        skip: How many of the first parameters have their argument already.
    """
    positional = [*params.posonly_params, *params.params][skip:]
    bound = bind_names([one.name.value for one in positional], passed)
    if not bound.is_open:
        bound.remaining = Seq(tuple(one.value for one in bound.extra))
    match bound.extra:
        case [Passed(value=Remaining() as rest), *others] if all(
            one.star == "**" for one in others
        ):
            starred = bound.extra[0]
            names = [one.name.value for one in positional if one.name.value not in bound.by_name]
            required = {one.name.value for one in positional if one.default is None}
            for place, name in enumerate(names):
                if name not in required:
                    return bound
                bound.by_name[name] = replace(starred, value=rest.item(place), code=None, star="")
            bound.remaining = replace(rest, start=rest.start + len(names))
    return bound
