"""Callables that are given as rows of types: one line of a class in the place of overloads.

What binds names is most of the time that checkers need for an overlay, and overloads are half of it.
"""

from __future__ import annotations

from collections.abc import Sequence

Row = tuple[str, str]
"""The type of an argument, and that of the result."""

_VARIABLES = '_L{number} = _TypeVar("_L{number}")\n_M{number} = _TypeVar("_M{number}")\n'

_CLASS = '''
class {name}({bases}_Generic[{parameters}]):
    """{documentation}"""
{body}'''

_TUPLE_END = """\
    def __iter__(self, /) -> _Iterator[int]: ...
    __getattr__: NoSuchField
"""

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
        state: The type of a State by an index, ``_State[int, _Any]``.
    """

    def __init__(self, state: str) -> None:
        self._state = state
        self._classes: dict[str, str] = {}
        self._most = 0

    def leaves(self, state: str, rows: Sequence[Row]) -> str:
        """Return the type of a function from filters to what they leave of a State."""
        own = self._own(len(rows))
        self._add(
            f"_Leaves{len(rows)}",
            "A function from filters to what they leave; from others it returns `_A`.",
            ["_A", *_cells(own)],
            _calls("taken", [*own, ("object", "_A")]),
        )
        return f"_Leaves{len(rows)}[{', '.join([state, *_cells(rows)])}]"

    def items(self, rows: Sequence[Row], *, is_open: bool) -> str:
        """Return the type of ``__getitem__``, by keys; of an open State other keys may be right."""
        own, name = self._own(len(rows)), f"_{'Open' if is_open else ''}Items{len(rows)}"
        others = other_items([key for key, _ in own], is_open=is_open)
        self._add(name, "The items of a State.", _cells(own), _calls("key", [*own, *others]))
        return f"{name}[{', '.join(_cells(rows))}]"

    def tuple_state(self, items: Sequence[str]) -> str:
        """Return the type of the State of a tuple."""
        own, name = [item for _, item in self._own(len(items))], f"TupleState{len(items)}"
        by_index = [_ITEM.format(key=f"_Literal[{at}]", item=item) for at, item in enumerate(own)]
        body = overloads([*by_index, _ITEM.format(key="int", item=" | ".join(own))]) + _TUPLE_END
        documentation = "The State of a tuple: elements by their index."
        self._add(name, documentation, own, body, f"{self._state}, ")
        return f"{name}[{', '.join(items)}]"

    def _add(
        self, name: str, documentation: str, parameters: list[str], body: str, bases: str = ""
    ) -> None:
        self._classes[name] = _CLASS.format(
            name=name,
            bases=bases,
            parameters=", ".join(parameters),
            documentation=documentation,
            body=body,
        )

    def _own(self, count: int) -> list[Row]:
        """Return rows of the type variables of a class itself."""
        self._most = max(self._most, count)
        return [(f"_L{number}", f"_M{number}") for number in range(count)]

    def classes(self) -> str:
        """Return the text of the classes that the types written so far need."""
        numbers = [_VARIABLES.format(number=number) for number in range(self._most)]
        return "".join([*numbers, *(text for _, text in sorted(self._classes.items()))])


def _cells(rows: Sequence[Row]) -> list[str]:
    return [cell for row in rows for cell in row]


def _calls(name: str, rows: Sequence[Row]) -> str:
    return overloads([_METHOD.format(name=name, argument=row[0], result=row[1]) for row in rows])


def other_items(keys: Sequence[str], *, is_open: bool) -> list[Row]:
    """Return the items of a State by keys that are not one text in the source."""
    # A type variable: editors would not offer the keys beside a plain `str`.
    computed = ("_Key", "_Any")
    if is_open:
        return [computed]
    # One of several texts is a text as well; it must not be taken for a wrong one.
    several = [(" | ".join(keys), "_Any")] if len(keys) > 1 else []
    return [*several, ("_OtherText", "NoSuchField"), computed]
