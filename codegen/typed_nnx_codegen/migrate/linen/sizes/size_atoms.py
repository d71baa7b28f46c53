"""What symbolic sizes are made of: pieces of code, and dimensions of arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Where names of sizes are bound that only the call knows: nowhere that code can be written.
OF_CALL: Final = "the call"


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
        home: Where the names in it are bound: the module or the object that it belongs to.
    """

    code: str
    home: str = ""


@dataclass(frozen=True, order=True)
class ItemSize(Piece):
    """The last size of an item of a list: as with arguments, it may be 1 where arrays are added."""


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
        case LeadingSize(argument=argument, start=0, stop=None):
            return f"math.prod({argument}.shape)"
        case LeadingSize(argument=argument, start=start, stop=stop):
            return f"math.prod({argument}.shape[{start or ''}:{'' if stop is None else stop}])"
        case ArgumentNumber(argument=argument):
            return argument
    raise AssertionError(atom)
