"""One case: an operation, the error that it raises and what the text of the error must say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import typed_nnx as nnx


@dataclass(frozen=True)
class Case:
    """An operation that fails.

    Attributes:
        name: What is wrong with it.
        error: The error that it raises.
        does: The operation.
        says: What the text says, in order: where, what was found, what was expected.
        fix: What the text says after ``Fix:``; None where it lists remedies in the words of NNX.
    """

    name: str
    error: type[Exception]
    does: Callable[[], object]
    says: tuple[str, ...]
    fix: str | None


Cases = Mapping[
    type[Exception], Mapping[str, tuple[Callable[[], object], tuple[str, ...], str | None]]
]
"""What an operation does, what the text says and the fix, by the error and what is wrong."""


def caught(case: Case) -> Exception:
    """Run the operation and return the exception, which has exactly the type of the case."""
    with pytest.raises(case.error) as info:
        case.does()
    assert type(info.value) is case.error
    return info.value


class Bag(nnx.Module):
    """A Module with the attributes that it is given."""

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def assign(target: Any, name: str, value: Any) -> None:
    """Assign an attribute, as an expression."""
    setattr(target, name, value)


def delete(target: Any, name: str) -> None:
    """Delete an attribute, as an expression."""
    delattr(target, name)
