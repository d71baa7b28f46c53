"""Places among the arguments and results of a call, in words."""

from __future__ import annotations

import enum

import jax

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._core.variable import Variable


class Root(enum.Enum):
    """What a path begins with that is no argument: no name of an argument is equal to it."""

    CAPTURED = "captured"
    CARRY = "init_val"


CAPTURED, CARRY = Root.CAPTURED, Root.CARRY


def place_name(path: Path) -> str:
    """Return a path whose first key is a position, a name or a `Root` as text: ``model.w``."""
    first, *rest = path
    if isinstance(first, int):
        return f"args[{first}]{attribute_path(tuple(rest))}"
    if first is CARRY:
        return f"{CARRY.value}{attribute_path(tuple(rest))}"
    if first is CAPTURED:
        kind, *below = rest
        return f"captured {kind}{attribute_path(tuple(below))}"
    return f"{first}{attribute_path(tuple(rest))}"


def kind_of_result(value: object) -> str:
    """Return what a function returned, in words that do not hold on to it."""
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, jax.Array):
        return "None" if value is None else "an array"
    return f"a {type(value).__name__}"


def shown_tree(tree: object) -> str:
    """Return a tree with words in the place of its leaves."""
    return repr(jax.tree.map(lambda leaf: Word(kind_of_result(leaf)), tree, is_leaf=_is_object))


class Word:
    """Shows as a text without quotes."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _is_object(value: object) -> bool:
    return isinstance(value, GraphNode | Variable)


def result_name(path: Path) -> str:
    """Return a path in the result as text: ``result[0].w``."""
    return f"result{attribute_path(path)}"
