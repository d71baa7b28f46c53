"""Looks for an expression of the code that gives a size in all examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import Array, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentSize, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.sizes.recorded import RecordedCall

# A size, and in the shapes of arrays one that examples do not agree on.
Size = int | tuple[int | None, ...]
_DEEPEST: Final = 3


@dataclass(frozen=True)
class Measured:
    """What a parameter has to be in a call of an example.

    Attributes:
        size: The number; several for the submodules of a list, or for the shape of an array.
        call: The call.
    """

    size: Size
    call: RecordedCall


def fitting(found: Sequence[Measured], methods: Iterable[str]) -> list[Dim]:
    """Return the simplest expressions that give a size in all examples.

    Fields and sizes of arguments come first, then multiples, products and sums of them. All that
    fit are returned: examples do not tell one of them from another.

    Args:
        found: The size in each call; it has to differ, as anything gives one number.
        methods: The methods whose arguments a constructor may ask for.
    """
    wanted = tuple(one.size for one in found)
    if len(set(wanted)) < 2 or not all(isinstance(one, int) for one in wanted):
        return []
    roots = frozenset(methods)
    tables = [dict(_atoms(one.call, roots)) for one in found]
    known = {
        atom: tuple(table[atom] for table in tables)
        for atom in tables[0]
        if all(atom in table for table in tables)
    }
    numbers = [int(one) for one in wanted if isinstance(one, int)]
    return _alone(known, numbers) or _together(known, numbers)


def _alone(known: Mapping[Dim, tuple[int, ...]], wanted: Sequence[int]) -> list[Dim]:
    return [dim for dim, sizes in known.items() if list(sizes) == wanted]


def _together(known: Mapping[Dim, tuple[int, ...]], wanted: Sequence[int]) -> list[Dim]:
    """Return multiples, products and sums."""
    varied = {dim: sizes for dim, sizes in known.items() if len(set(sizes)) > 1}
    found = []
    for dim, sizes in varied.items():
        factors = {divmod(size, by) for size, by in zip(wanted, sizes, strict=True)}
        if len(factors) == 1 and (factor := factors.pop())[1] == 0:
            found.append(dim * factor[0])
    for (one, sizes), (other, others) in combinations_with_replacement(known.items(), 2):
        pairs = list(zip(sizes, others, wanted, strict=True))
        if one != other and all(first + second == size for first, second, size in pairs):
            found.append(one + other)
        if min(*sizes, *others) > 1 and all(
            first * second == size for first, second, size in pairs
        ):
            found.append(one * other)
    return found


def _atoms(call: RecordedCall, roots: frozenset[str]) -> Iterator[tuple[Dim, int]]:
    """Yield the sizes that a constructor can say, with their values in a call."""
    for code, size in call.sizes.items():
        yield as_dim(Piece(code)), size
    if call.around_method in roots:
        for name, value in call.around.items():
            yield from _of_argument(name, value, 0)


def _of_argument(code: str, value: Value, depth: int) -> Iterator[tuple[Dim, int]]:
    if depth > _DEEPEST:
        return
    match value:
        case Array(shape=shape):
            for number, dim in enumerate(shape.dims):
                if dim is not None and dim.constant:
                    yield as_dim(ArgumentSize(code, number - len(shape.dims))), dim.constant
        case Seq(items=items):
            for number, item in enumerate(items):
                yield from _of_argument(f"{code}[{number}]", item, depth + 1)
        case Table(items=table):
            for key, item in table.items():
                yield from _of_argument(f"{code}[{key!r}]", item, depth + 1)
