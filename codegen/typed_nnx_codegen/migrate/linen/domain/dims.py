"""Symbolic sizes of array dimensions: integer polynomials over code and dimensions of arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

# What binds the names in an expression: files, by their paths, loops of the constructor, by their
# numbers, the call. Names of the constructor itself, such as `self`, need nothing.
Binders = tuple[str | int, ...]
# Binds names of sizes that only the call knows: nothing that code can be written with has them.
OF_CALL: Final = "the call"
# Strides that are a number or a tuple: an expression of the constructor, which is no size.
STRIDES: Final = "the strides"


def bound_by(*binders: Binders) -> Binders:
    """Return what binds the names of several expressions."""
    return tuple(sorted({one for each in binders for one in each}, key=str))


def loops_of(binders: Binders) -> Binders:
    """Return the loops that bind names of an expression."""
    return tuple(one for one in binders if isinstance(one, int))


# Begins what stands in the place of an argument: a shape that the constructor has.
_HELD: Final = "="


def held_shape(code: str) -> str:
    """Return what stands in the place of an argument for arrays whose shape an expression says."""
    return f"{_HELD}{code}"


def shape_code(argument: str) -> str:
    """Return the expression for a shape that the constructor has; empty for an argument."""
    return argument[len(_HELD) :] if argument.startswith(_HELD) else ""


@dataclass(frozen=True, order=True)
class Piece:
    """An integer that a Python expression computes where the module is constructed.

    Attributes:
        code: The expression; a name, attribute, subscript, call, or in parentheses.
        binders: What binds the names in it.
    """

    code: str
    binders: Binders = ()


@dataclass(frozen=True, order=True)
class ItemSize(Piece):
    """The last size of an item of a list: as with arguments, it may be 1 where arrays are added."""


@dataclass(frozen=True, order=True)
class LoopEnd(Piece):
    """A size that a loop of the constructor leaves in a local.

    Attributes:
        loop: The number of the loop.
    """

    loop: int = 0


@dataclass(frozen=True, order=True)
class NamedNumber(Piece):
    """A number that has a name: where that cannot be read, the number is said.

    Attributes:
        number: The number.
    """

    number: int = 0


@dataclass(frozen=True, order=True)
class ArgumentSize:
    """A dimension of an array that a method is called with.

    Attributes:
        argument: The expression of the array over the parameters of the method, ``x``,
            ``batch["image"]``.
        axis: Its axis, negative where it is counted from the end.
    """

    argument: str
    axis: int


@dataclass(frozen=True, order=True)
class ArgumentShape:
    """Several dimensions of an argument: ``x.shape[start:stop]``.

    Attributes:
        argument: The expression of the array over the parameters of the method.
        start: Where the dimensions begin.
        stop: Where they end, negative; None for all.
    """

    argument: str
    start: int = 0
    stop: int | None = None

    def part(self, shape: str) -> str:
        """Return the expression for the dimensions, given that for the whole shape."""
        if not self.start and self.stop is None:
            return shape
        return f"{shape}[{self.start or ''}:{'' if self.stop is None else self.stop}]"


@dataclass(frozen=True, order=True)
class LeadingSize:
    """The product of the first dimensions of an argument: ``math.prod(x.shape[start:stop])``.

    Attributes:
        argument: The expression of the array over the parameters of the method.
        start: Where the dimensions begin.
        stop: Where they end, negative; None for all.
    """

    argument: str
    start: int
    stop: int | None

    @property
    def shape(self) -> ArgumentShape:
        """The dimensions."""
        return ArgumentShape(self.argument, self.start, self.stop)


@dataclass(frozen=True, order=True)
class ArgumentItems:
    """The last dimensions of the arrays in an argument, a list.

    Attributes:
        argument: Its expression over the parameters of the method.
    """

    argument: str


@dataclass(frozen=True, order=True)
class ArgumentPresence:
    """Something of an argument that is None where the argument is not given.

    Attributes:
        argument: Its expression over the parameters of the method.
    """

    argument: str


@dataclass(frozen=True, order=True)
class ArgumentNumber:
    """A whole number that a method is called with.

    Attributes:
        argument: Its expression over the parameters of the method, ``features``, ``shape[-1]``.
    """

    argument: str


def spelled_at_call(atom: object) -> str:
    """Return the expression for an atom where the method is called."""
    match atom:
        case Piece(code=code):
            return code
        case ArgumentSize(argument=argument, axis=axis):
            return f"{argument}.shape[{axis}]"
        case ArgumentShape(argument=argument):
            return atom.part(f"{argument}.shape")
        case ArgumentItems(argument=argument):
            return f"[one.shape[-1] for one in {argument}]"
        case ArgumentNumber(argument=argument) | ArgumentPresence(argument=argument):
            return argument
    raise AssertionError(atom)


@dataclass(frozen=True)
class Combined:
    """What an operation makes of sizes, where it is no polynomial.

    Attributes:
        operation: ``//``, ``%``, ``/``, ``**``, ``max``, ``min``, ``int``, ``ceil`` (of the first divided
            by the second), ``rank`` (how many leading sizes there are, the leading sizes: whether
            that is so), ``at`` (the place, how many are in front, the leading sizes, those in
            front, those behind).
        parts: The sizes.
        is_exact: Whether a division is known to leave no rest: `jnp.split` fails where it does.
    """

    operation: str
    parts: tuple[Dim, ...]
    is_exact: bool = field(default=False, compare=False, repr=False)


Atom = (
    Piece
    | ArgumentSize
    | ArgumentShape
    | ArgumentItems
    | ArgumentNumber
    | ArgumentPresence
    | LeadingSize
    | Combined
)
_Terms = dict[tuple[Atom, ...], int]
_CALLS: Final = ("max", "min", "int")
# `(a + 1) * (b + 1)`, multiplied out.
_TERMS_OF_PRODUCT: Final = 4


@dataclass(frozen=True)
class Dim:
    """A size: a sum of products of atoms.

    Attributes:
        terms: The products with their factors, in a fixed order; none for zero.
    """

    terms: tuple[tuple[tuple[Atom, ...], int], ...]

    @property
    def constant(self) -> int | None:
        """The number that it is; None where it is symbolic."""
        if not self.terms:
            return 0
        (atoms, factor), *rest = self.terms
        return factor if not atoms and not rest else None

    @property
    def atom(self) -> Atom | None:
        """The atom that it is; None where it is more."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def __add__(self, other: Dim | int) -> Dim:
        terms = dict(self.terms)
        for atoms, factor in as_dim(other).terms:
            terms[atoms] = terms.get(atoms, 0) + factor
        return _dim(terms)

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim | int) -> Dim:
        return self + -as_dim(other)

    def __mul__(self, other: Dim | int) -> Dim:
        terms: _Terms = {}
        for atoms, factor in self.terms:
            for others, by in as_dim(other).terms:
                key = tuple(sorted((*atoms, *others), key=repr))
                terms[key] = terms.get(key, 0) + factor * by
        return _dim(terms)

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, other: Dim | int) -> Dim:
        return self._rounded("//", other)

    def __mod__(self, other: Dim | int) -> Dim:
        by = as_dim(other)
        if self.divided(by) is not None:
            return as_dim(0)
        if self.constant is not None and by.constant:
            return as_dim(self.constant % by.constant)
        return _combined("%", self, by)

    def joined(self, count: Dim) -> Dim:
        """Return the size of so many arrays of this size together."""
        match self.atom:
            case Combined(operation="//", parts=(whole, by), is_exact=True) if by == count:
                return whole
        return self * count

    def part(self, count: Dim | int) -> Dim:
        """Return one of so many equal parts: together they are the whole."""
        found = self // count
        match found.atom:
            case Combined(operation="//", parts=parts):
                return as_dim(Combined("//", parts, is_exact=parts == (self, as_dim(count))))
        return found

    def ceil_divided(self, other: Dim | int) -> Dim:
        """Return it divided, rounded up."""
        return self._rounded("ceil", other)

    def _rounded(self, operation: Literal["//", "ceil"], other: Dim | int) -> Dim:
        by = as_dim(other)
        exact = self.divided(by)
        if exact is not None:
            return exact
        if not by.constant:
            return _combined(operation, self, by)
        if self.constant is not None:
            sign = 1 if operation == "//" else -1
            return as_dim(sign * (sign * self.constant // by.constant))
        terms = dict(self.terms)
        rest = terms.pop((), 0)
        whole = rest // by.constant
        if whole:
            # `(a - 2) // 2` is `a // 2 - 1`
            return (self - whole * by)._rounded(operation, by) + whole
        match list(terms.items()):
            case [((Combined(operation=before, parts=(inner, divisor)),), 1)] if (
                before == operation and min(divisor.constant or 0, by.constant) > 0
            ):
                # `(a // 2 + 1) // 3` is `(a + 2) // 6`
                return (inner + rest * divisor)._rounded(operation, divisor * by)
        return _combined(operation, self, by)

    def divided(self, by: Dim) -> Dim | None:
        """Return it divided where that is a polynomial again; None where it is not."""
        if len(by.terms) > 1:
            return as_dim(1) if self == by else None
        if not by.terms:
            return None
        divisor, number = by.terms[0]
        terms: _Terms = {}
        for atoms, factor in self.terms:
            left = list(atoms)
            for atom in divisor:
                if atom not in left:
                    return None
                left.remove(atom)
            if factor % number:
                return None
            terms[tuple(left)] = factor // number
        return _dim(terms)

    def atoms(self) -> Iterable[Atom]:
        """Yield all atoms in it, those of combined sizes too."""
        for atoms, _ in self.terms:
            for atom in atoms:
                if isinstance(atom, Combined):
                    for part in atom.parts:
                        yield from part.atoms()
                else:
                    yield atom

    def pieces(self) -> Iterable[Piece]:
        """Yield the expressions in it."""
        return (one for one in self.atoms() if isinstance(one, Piece))

    def replaced(self, values: Mapping[Atom, Dim]) -> Dim:
        """Return it with other sizes in the place of some atoms."""
        if not values:
            return self
        total = as_dim(0)
        for atoms, factor in self.terms:
            product = as_dim(factor)
            for atom in atoms:
                product = product * _replaced(atom, values)
            total = total + product
        return total

    def code(self, spelled: Callable[[Atom], str] | None = None) -> str:
        """Return a Python expression for it.

        Args:
            spelled: Gives the expression for an atom that consists of no others; by default a
                piece's own code, and `x.shape[-1]` for a size of an argument.
        """
        spell = spelled or spelled_at_call
        if not self.terms:
            return "0"
        factors = self._factors() if len(self.terms) >= _TERMS_OF_PRODUCT else [self]
        if len(factors) > 1:
            codes = [(one, one.code(spell)) for one in factors if one.constant != 1]
            return " * ".join(
                f"({code})" if len(one.terms) > 1 or isinstance(one.atom, Combined) else code
                for one, code in codes
            )
        ordered = sorted(self.terms, key=lambda term: (not term[0], term[1] < 0))
        text = ""
        for atoms, factor in ordered:
            # `-n // 2` is something else.
            is_first = not text and factor < 0
            product = _product(atoms, abs(factor), spell, is_alone=not is_first)
            sign = " - " if factor < 0 else " + "
            text = text + sign + product if text else ("-" if factor < 0 else "") + product
        return text

    def _factors(self) -> list[Dim]:
        """Return the sums `atom + number` that it is a product of, behind what is left of it."""
        for atom in dict.fromkeys(one for atoms, _ in self.terms for one in atoms):
            below: _Terms = {}
            beside: _Terms = {}
            for atoms, factor in self.terms:
                if atom in atoms:
                    at = atoms.index(atom)
                    below[atoms[:at] + atoms[at + 1 :]] = factor
                else:
                    beside[atoms] = factor
            key, first = next(iter(below.items()))
            number = beside.get(key, 0) // first
            if number and _dim(below) * number == _dim(beside):
                return [*_dim(below)._factors(), as_dim(atom) + number]
        return [self]


def _product(
    atoms: tuple[Atom, ...], factor: int, spell: Callable[[Atom], str], *, is_alone: bool
) -> str:
    alone = is_alone and len(atoms) == 1 and factor == 1
    parts = [] if factor == 1 and atoms else [str(factor)]
    for atom in atoms:
        match atom:
            case Combined(operation=operation):
                code = _combined_code(atom, spell)
                parts.append(code if alone or operation in _CALLS else f"({code})")
            case LeadingSize(shape=shape):
                parts.append(f"math.prod({spell(shape)})")
            case _:
                parts.append(spell(atom))
    return " * ".join(parts)


def _combined_code(atom: Combined, spell: Callable[[Atom], str]) -> str:
    codes = [part.code(spell) for part in atom.parts]
    if atom.operation in _CALLS:
        return f"{atom.operation}({', '.join(codes)})"
    if atom.operation == "if":
        return f"({codes[1]} if {codes[0]} else {codes[2]})"
    if atom.operation == "rank":
        return f"len({spell(_leading(atom.parts[1]))}) == {codes[0]}"
    if atom.operation == "at":
        count = (atom.parts[1].constant or 0) + 3
        return _place_code(
            atom.parts[0].constant or 0,
            codes[3:count],
            _leading(atom.parts[2]),
            codes[count:],
            spell,
        )
    first, second = (
        code if part.constant is not None or _is_simple(part) else f"({code})"
        for part, code in zip(atom.parts, codes, strict=True)
    )
    if atom.operation == "ceil":
        return f"-(-{first} // {second})"
    return f"{first} {atom.operation} {second}"


def placed(
    leading: LeadingSize, last: Iterable[Dim], axis: int, front: tuple[Dim, ...] = ()
) -> Dim:
    """Return a size by its place among dimensions of an argument and others around them."""
    return _combined("at", as_dim(axis), as_dim(len(front)), as_dim(leading), *front, *last)


def _place_code(
    place: int,
    front: list[str],
    leading: ArgumentShape,
    last: list[str],
    spell: Callable[[Atom], str],
) -> str:
    """Return the code of a size by its place among dimensions of an argument and others around them."""
    argument, start, stop = leading.argument, leading.start, leading.stop
    shape = spell(ArgumentShape(argument))
    if place == -1 and front and not last and stop is None:
        end = spell(ArgumentSize(argument, -1))
        return f"({end} if len({shape}) > {start} else {front[-1]})"
    if place >= 0 and not front and not start and stop == -len(last) == -1:
        own = spell(ArgumentSize(argument, place))
        return f"({own} if len({shape}) > {place + 1} else {last[0]})"
    dims = spell(leading)
    if front or last:
        dims = f"({', '.join([*front, f'*{dims}', *last])})"
    return f"{dims}[{place}]"


def _leading(product: Dim) -> ArgumentShape:
    """Return the leading dimensions whose product a size is."""
    assert isinstance(product.atom, LeadingSize)
    return product.atom.shape


def if_ranked(leading: LeadingSize, count: int, one: Dim, other: Dim) -> Dim:
    """Return the size that is `one` where there are so many leading sizes, else `other`."""
    if one == other or count < 0:
        return other
    return _combined("if", _combined("rank", as_dim(count), as_dim(leading)), one, other)


def _is_simple(dim: Dim) -> bool:
    atom = dim.atom
    return atom is not None and (not isinstance(atom, Combined) or atom.operation in _CALLS)


def _replaced(atom: Atom, values: Mapping[Atom, Dim]) -> Dim:
    if atom in values:
        return values[atom]
    if not isinstance(atom, Combined):
        return _dim({(atom,): 1})
    parts = [part.replaced(values) for part in atom.parts]
    return _OPERATIONS[atom.operation](*parts)


def chosen(condition: Piece, one: Dim, other: Dim) -> Dim:
    """Return the size that is `one` where a condition holds, else `other`."""
    return one if one == other else _combined("if", as_dim(condition), one, other)


def maximum(*dims: Dim) -> Dim:
    """Return the largest of some sizes."""
    return _extreme("max", dims)


def minimum(*dims: Dim) -> Dim:
    """Return the smallest of some sizes."""
    return _extreme("min", dims)


def _extreme(operation: str, dims: tuple[Dim, ...]) -> Dim:
    different = tuple(dict.fromkeys(dims))
    numbers = [dim.constant for dim in different]
    known = [number for number in numbers if number is not None]
    if len(different) == 1:
        return different[0]
    if len(known) == len(different):
        return as_dim(max(known) if operation == "max" else min(known))
    return _combined(operation, *different)


def quotient(first: Dim, second: Dim) -> Dim:
    """Return a size divided by another as `/` does it; the result may be no whole number."""
    return _combined("/", first, second)


def power(first: Dim, second: Dim) -> Dim:
    """Return a size to a power; the result may be no whole number."""
    return _combined("**", first, second)


def whole(dim: Dim) -> Dim:
    """Return what `int` makes of a number; itself where it is surely a whole number."""
    atom = dim.atom
    if isinstance(atom, Combined) and atom.operation == "/" and all(map(_is_whole, atom.parts)):
        first, second = atom.parts
        return first // second
    return dim if _is_whole(dim) else _combined("int", dim)


def _is_whole(dim: Dim) -> bool:
    return all(_is_whole_atom(atom) for atoms, _ in dim.terms for atom in atoms)


def _is_whole_atom(atom: Atom) -> bool:
    if not isinstance(atom, Combined):
        return not isinstance(atom, Piece)
    return atom.operation == "int" or (
        atom.operation != "/" and all(_is_whole(part) for part in atom.parts)
    )


_OPERATIONS: Final[dict[str, Callable[..., Dim]]] = {
    "//": Dim.__floordiv__,
    "%": Dim.__mod__,
    "ceil": Dim.ceil_divided,
    "/": quotient,
    "**": power,
    "int": whole,
    "max": maximum,
    "min": minimum,
    "at": lambda *parts: _combined("at", *parts),
    "rank": lambda count, leading: _combined("rank", count, leading),
    "if": lambda condition, one, other: (
        one if one == other else _combined("if", condition, one, other)
    ),
}


def reads_of(dim: Dim, argument: str) -> Iterator[int | ArgumentShape | None]:
    """Yield what a size reads of the shape of an argument.

    Yields:
        One dimension; several; None for how many there are.
    """
    for atom in (one for atoms, _ in dim.terms for one in atoms):
        parts: Sequence[Dim] = atom.parts if isinstance(atom, Combined) else ()
        match atom:
            case ArgumentSize(axis=axis) if atom.argument == argument:
                yield axis
            case ArgumentShape() if atom.argument == argument:
                yield atom
            case LeadingSize(shape=shape) if atom.argument == argument:
                yield shape
            case Combined("rank", (_, shape)) if _leading(shape).argument == argument:
                yield None
            case Combined("at", (at, _, shape, *parts)) if _leading(shape).argument == argument:
                place, is_whole = at.constant or 0, not _leading(shape).start
                yield from (place, None) if place < 0 or is_whole else (_leading(shape),)
        for part in parts:
            yield from reads_of(part, argument)


def as_dim(value: Dim | Atom | int) -> Dim:
    """Return a number or an atom as a size."""
    if isinstance(value, Dim):
        return value
    if isinstance(value, int):
        return _dim({(): value})
    return _dim({(value,): 1})


def product(dims: Iterable[Dim]) -> Dim:
    """Return the product of sizes."""
    return math.prod(dims, start=as_dim(1))


def _combined(operation: str, *parts: Dim) -> Dim:
    return as_dim(Combined(operation, parts))


def _dim(terms: _Terms) -> Dim:
    for atoms, factor in terms.items():
        for place, atom in enumerate(atoms):
            match atom:
                case Combined(parts=(whole, Dim(constant=int(by))), is_exact=True) if (
                    by and factor % by == 0
                ):
                    # `2 * (n // 2)` is `n`.
                    others = {one: count for one, count in terms.items() if one != atoms}
                    rest = (*atoms[:place], *atoms[place + 1 :])
                    of_whole = _dim({rest: factor // by}) * whole
                    return _dim(others) + of_whole
    kept = [(atoms, factor) for atoms, factor in terms.items() if factor]
    if len(kept) > 1:
        kept.sort(key=lambda term: (len(term[0]), repr(term[0])))
    return Dim(tuple(kept))
