"""Whether a value is what a type of the tables of classes says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import jax
import numpy as np

WORDS = frozenset({"None", "array", "bool", "callable", "float", "int", "self", "special"})
MORE_WORDS = frozenset({"str", "unknown", "tuple", "list", "dict", "type"})


def is_of(value: object, text: str) -> bool:
    """Whether a value is of a type of the tables; classes go by the names of all their bases."""
    return any(_is_one(value, part) for part in split(text, "|"))


def _is_one(value: object, text: str) -> bool:
    name, _, inner = text.partition("[")
    items = split(inner.removesuffix("]"), ",") if inner else []
    plain: dict[str, type | tuple[type, ...]] = {
        "bool": bool,
        "float": (float, int),
        "int": int,
        "str": str,
        "None": type(None),
    }
    if name == "unknown":
        return True
    if name in plain:
        return isinstance(value, plain[name]) and (name == "bool" or not isinstance(value, bool))
    if name == "array":
        return isinstance(value, jax.Array | np.ndarray)
    if name == "callable":
        return callable(value)
    if name == "type":
        return isinstance(value, type) and items[0] in {each.__name__ for each in value.__mro__}
    if name == "dict":
        return isinstance(value, Mapping) and _all_of(value.values(), items[1])
    if name == "list":
        return isinstance(value, Iterable) and _all_of(value, items[0])
    if name == "tuple":
        return isinstance(value, tuple) and _is_tuple(value, items)
    return name in {each.__name__ for each in type(value).__mro__}


def _is_tuple(value: tuple[object, ...], items: list[str]) -> bool:
    if items[-1] == "...":
        return _all_of(value, items[0])
    return len(value) == len(items) and all(map(is_of, value, items))


def _all_of(values: Iterable[object], text: str) -> bool:
    return all(is_of(value, text) for value in values)


def split(text: str, separator: str) -> list[str]:
    """Split at the separators outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == separator and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def classes_named_in(text: str) -> Iterator[str]:
    """Yield the words of a type that are no words of the language."""
    for part in split(text, "|"):
        name, _, inner = part.partition("[")
        if inner:
            for item in split(inner.removesuffix("]"), ","):
                if item != "...":
                    yield from classes_named_in(item)
        if name not in WORDS | MORE_WORDS and not name.startswith(("arg", "result(")):
            yield name
