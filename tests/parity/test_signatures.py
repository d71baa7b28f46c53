"""The comparison of signatures sees each kind of difference."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from tests.parity.signatures import differences


def flax(a: int, b: int = 1, /, c: int = 2, *rest: int, d: int = 3, e: int, **more: int) -> None:
    """The signature to compare with."""


class Flax:
    plain = 1

    def __init__(self, size: int, *, depth: int = 2) -> None: ...
    def method(self, x: int) -> None: ...
    @classmethod
    def make(cls, x: int) -> None: ...
    @staticmethod
    def rule(x: int) -> None: ...


def found(ours: Any, theirs: Any) -> list[str]:
    return [name for name, _ in differences("f", ours, theirs)]


def the_same(x: int, y: int = 1, /, c: int = 2, *args: int, e: int, d: int = 3, **kw: int) -> None:
    """Names of positional-only and collecting parameters and the order of keywords do not matter."""


def renamed(
    a: int, b: int = 1, /, z: int = 2, *rest: int, d: int = 3, e: int, **m: int
) -> None: ...
def by_name(a: int, b: int = 1, *rest: int, c: int = 2, d: int = 3, e: int, **m: int) -> None: ...
def default(
    a: int, b: int = 1, /, c: int = 9, *rest: int, d: int = 3, e: int, **m: int
) -> None: ...
def missing(a: int, b: int = 1, /, c: int = 2, *rest: int, e: int, **more: int) -> None: ...
def closed(a: int, b: int = 1, /, c: int = 2, *rest: int, d: int = 3, e: int) -> None: ...
def required(a: int, b: int, /, c: int = 2, *rest: int, d: int = 3, e: int, **m: int) -> None: ...


def test_signatures_that_take_the_same_calls_are_equal() -> None:
    assert found(the_same, flax) == []
    assert found(flax, flax) == []


@pytest.mark.parametrize("ours", [renamed, by_name, default, missing, closed, required])
def test_a_signature_that_differs_is_found(ours: Any) -> None:
    assert found(ours, flax) == ["f"]


def test_any_precise_signature_stands_for_one_that_says_nothing() -> None:
    def says_nothing(*args: Any, **kwargs: Any) -> None: ...

    assert found(flax, says_nothing) == []
    assert found(says_nothing, flax) == ["f"]


def test_partial_functions_are_compared_with_what_they_hold() -> None:
    theirs = functools.partial(flax, d=9)
    assert found(functools.partial(the_same, d=9), theirs) == []
    assert found(flax, theirs) == ["f"]


def test_classes_are_compared_by_constructor_methods_and_other_names() -> None:
    class Ours:
        plain = 2

        def __init__(self, size: int, *, depth: int = 2) -> None: ...
        def method(me, x: int) -> None: ...  # the name is free
        @classmethod
        def make(kind, x: int) -> None: ...  # the name is free
        @staticmethod
        def rule(x: int) -> None: ...

    class Others:
        def __init__(self, size: int) -> None: ...
        def method(self, y: int) -> None: ...
        @classmethod
        def make(cls) -> None: ...

    assert found(Ours, Flax) == []
    assert found(Others, Flax) == ["f.__init__", "f.make", "f.method", "f.rule", "f.plain"]


def test_defaults_are_compared_by_what_they_are() -> None:
    def first(x: Any = flax, y: Any = Flax, z: Any = (1, {})) -> None: ...
    def second(x: Any = the_same, y: Any = Flax, z: Any = (1, {})) -> None: ...
    def third(x: Any = flax, y: Any = Flax, z: Any = (True, {})) -> None: ...

    assert found(first, first) == []
    assert found(second, first) == ["f"]
    assert found(third, first) == ["f"]
