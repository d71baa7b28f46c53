"""Callables that are given as rows of types: one line of a class in the place of overloads.

What binds names is most of the time that checkers need for an overlay, and overloads are half of it.
"""

from __future__ import annotations

from collections.abc import Sequence

Row = tuple[str, str]
"""The type of an argument, and that of the result."""

_VARIABLES = '_L{number} = _TypeVar("_L{number}")\n_M{number} = _TypeVar("_M{number}")\n'

_CLASS = '''
class {name}(_Generic[{parameters}]):
    """{documentation}"""
'''

_TUPLE = '''
class TupleState{count}({base}, _Generic[{parameters}]):
    """The State of a tuple: elements by their index."""
{items}    def __iter__(self, /) -> _Iterator[int]: ...
    __getattr__: NoSuchField
'''

_ITEM = "    def __getitem__(self, key: {key}, /) -> {item}: ..."
_METHOD = "    def __call__(self, {name}: {argument}, /) -> {result}: ..."


def overloads(definitions: Sequence[str]) -> str:
    """Return the text of the overloads of a function; each is a line. One alone is none."""
    if len(definitions) == 1:
        return f"{definitions[0]}\n"
    return "".join(
        f"{each[: len(each) - len(each.lstrip())]}@_overload\n{each}\n" for each in definitions
    )


class Rows:
    """Writes the types of such callables, and the classes that they need.

    Args:
        state: The type of a State by keys of one type, ``_State[{key}, _Any]``.
    """

    def __init__(self, state: str) -> None:
        self._state = state
        self._tuples: set[int] = set()
        self._leaves: set[int] = set()
        self._items: set[tuple[int, bool]] = set()

    def leaves(self, state: str, rows: Sequence[Row]) -> str:
        """Return the type of a function from filters to what they leave of a State."""
        self._leaves.add(len(rows))
        return f"_Leaves{len(rows)}[{', '.join([state, *_cells(rows)])}]"

    def items(self, rows: Sequence[Row], *, is_open: bool) -> str:
        """Return the type of ``__getitem__``, by keys; of an open State other keys may be right."""
        self._items.add((len(rows), is_open))
        return f"{_items(len(rows), is_open)}[{', '.join(_cells(rows))}]"

    def tuple_state(self, items: Sequence[str]) -> str:
        """Return the type of the State of a tuple."""
        self._tuples.add(len(items))
        return f"TupleState{len(items)}[{', '.join(items)}]"

    def classes(self) -> str:
        """Return the text of the classes that the types written so far need."""
        counts = (*self._leaves, *self._tuples, *(count for count, _ in self._items))
        most = max(counts, default=0)
        base = self._state.format(key="int")
        return "".join(
            [
                *(_VARIABLES.format(number=number) for number in range(most)),
                *map(_leaves_class, sorted(self._leaves)),
                *(_items_class(count, is_open) for count, is_open in sorted(self._items)),
                *(_tuple_class(count, base) for count in sorted(self._tuples)),
            ]
        )


def _cells(rows: Sequence[Row]) -> list[str]:
    return [cell for row in rows for cell in row]


def _items(count: int, is_open: bool) -> str:
    return f"_{'Open' if is_open else ''}Items{count}"


def _class(name: str, documentation: str, parameters: Sequence[str], rows: Sequence[Row]) -> str:
    argument = "key" if "Items" in name else "taken"
    methods = [_METHOD.format(name=argument, argument=row[0], result=row[1]) for row in rows]
    start = _CLASS.format(name=name, documentation=documentation, parameters=", ".join(parameters))
    return start + overloads(methods)


def _own(count: int) -> list[Row]:
    return [(f"_L{number}", f"_M{number}") for number in range(count)]


def _leaves_class(count: int) -> str:
    documentation = "A function from filters to what they leave; from others it returns `_A`."
    own = _own(count)
    return _class(f"_Leaves{count}", documentation, ["_A", *_cells(own)], [*own, ("object", "_A")])


def _tuple_class(count: int, base: str) -> str:
    items = [f"_M{number}" for number in range(count)]
    by_index = [_ITEM.format(key=f"_Literal[{at}]", item=item) for at, item in enumerate(items)]
    methods = overloads([*by_index, _ITEM.format(key="int", item=" | ".join(items))])
    return _TUPLE.format(count=count, base=base, parameters=", ".join(items), items=methods)


def _items_class(count: int, is_open: bool) -> str:
    own = _own(count)
    rows = [*own, *other_items([key for key, _ in own], is_open=is_open)]
    return _class(_items(count, is_open), "The items of a State.", _cells(own), rows)


def other_items(keys: Sequence[str], *, is_open: bool) -> list[Row]:
    """Return the items of a State by keys that are not one text in the source."""
    # A type variable: editors would not offer the keys beside a plain `str`.
    computed = ("_Key", "_Any")
    if is_open:
        return [computed]
    # One of several texts is a text as well; it must not be taken for a wrong one.
    several = [(" | ".join(keys), "_Any")] if len(keys) > 1 else []
    return [*several, ("_OtherText", "NoSuchField"), computed]
