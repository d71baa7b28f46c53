"""What an object yields to be shown: a header and rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from typed_nnx._core.display_counts import Counter


class Style(IntEnum):
    """How a value is written; a larger style includes the smaller ones."""

    PLAIN = 0
    """As Python writes it."""
    TREE = 1
    """Dicts in the key order of jax pytrees."""
    SHORT = 2
    """Arrays of more than one element by shape and dtype."""


@dataclass(frozen=True, slots=True)
class ObjectHeader:
    """What stands before and after the rows of an object.

    Attributes:
        type: the type, or the text that stands for it.
        start: opens the rows.
        end: closes them.
        separator: stands between the key and the value of a row.
        comment: follows ``start``, after a ``#``; a function, for counting does not need it.
        show_once: later occurrences in the same text become ``Foo(...)``.
        quote_keys: keys are written by their ``repr``.
        is_tree: the rows are in jax's key order where values are written in a tree style.
        count: tells a counter what the object holds.
    """

    type: type | str
    start: str = "("
    end: str = ")"
    separator: str = "="
    comment: Callable[[], str] | None = None
    show_once: bool = False
    quote_keys: bool = False
    is_tree: bool = False
    count: Callable[[Counter], None] | None = None

    @property
    def name(self) -> str:
        """The text of the type."""
        return self.type if isinstance(self.type, str) else self.type.__name__


@dataclass(frozen=True, slots=True)
class Attribute:
    """One row of an object.

    Attributes:
        key: stands before the value; None in a sequence.
        value: what the row shows.
        style: how the value is written.
        inherits_style: the value is written at least in the style of the object itself.
        start: opens the row.
        end: closes it.
        short_value: if not None, what the row shows in the short style.
    """

    key: Any
    value: Any
    style: Style = Style.PLAIN
    inherits_style: bool = False
    start: str = ""
    end: str = ""
    short_value: Any = None
