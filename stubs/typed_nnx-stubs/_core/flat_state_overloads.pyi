# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from typed_nnx._core.filters import Filter
from typed_nnx._core.state import FlatState
from typing import Any, TypeVar, overload

L1 = TypeVar("L1")

@overload
def split(self: FlatState[L1], f1: Filter, /) -> FlatState[L1]:
    """Return one FlatState per filter; each leaf goes to the first filter that matches it.

    Raises:
        NoFilterMatchedError: A leaf matches no filter.
    """
@overload
def split(self: FlatState[L1], f1: Filter, f2: Filter, /) -> tuple[FlatState[L1], FlatState[L1]]: """Return one FlatState per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: """Return one FlatState per filter; each leaf goes to the first filter that matches it."""

@overload
def filter(self: FlatState[L1], f1: Filter, /) -> FlatState[L1]: """Return one FlatState per filter and leave out the leaves that none matches."""
@overload
def filter(self: FlatState[L1], f1: Filter, f2: Filter, /) -> tuple[FlatState[L1], FlatState[L1]]: """Return one FlatState per filter and leave out the leaves that none matches."""
@overload
def filter(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter and leave out the leaves that none matches."""
@overload
def filter(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter and leave out the leaves that none matches."""
@overload
def filter(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter and leave out the leaves that none matches."""
@overload
def filter(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, /) -> tuple[FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1], FlatState[L1]]: """Return one FlatState per filter and leave out the leaves that none matches."""
@overload
def filter(self: FlatState[L1], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: """Return one FlatState per filter and leave out the leaves that none matches."""
