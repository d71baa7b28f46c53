# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from jax import Array
from typed_nnx._core.filters import Filter
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.engine.prefixes import DiffState
from typing import Any, Literal, TypeVar, overload

_V = TypeVar("_V", bound=Variable[Any])
_Filter = TypeVar("_Filter", bound=Filter)

MYPY = False
if not MYPY:
    @overload
    def __init__(self: DiffState[Literal[0], type[_V]], argnum: Literal[0], filter: Callable[[Array], _V]) -> None:
        """Names the argument of `grad`, and which of its Variables to differentiate by.

        For type checkers its parameters are the position, a ``Literal``, and the type of the filter.

        Args:
            argnum: The position of the argument.
            filter: The filter of the Variables.
        """
    @overload
    def __init__(self: DiffState[Literal[1], type[_V]], argnum: Literal[1], filter: Callable[[Array], _V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
    @overload
    def __init__(self: DiffState[Literal[2], type[_V]], argnum: Literal[2], filter: Callable[[Array], _V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
    @overload
    def __init__(self: DiffState[Literal[3], type[_V]], argnum: Literal[3], filter: Callable[[Array], _V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
    @overload
    def __init__(self: DiffState[int, type[_V]], argnum: int, filter: Callable[[Array], _V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[0], type[_V]], argnum: Literal[0], filter: type[_V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[1], type[_V]], argnum: Literal[1], filter: type[_V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[2], type[_V]], argnum: Literal[2], filter: type[_V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[3], type[_V]], argnum: Literal[3], filter: type[_V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[int, type[_V]], argnum: int, filter: type[_V]) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[0], _Filter], argnum: Literal[0], filter: _Filter) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[1], _Filter], argnum: Literal[1], filter: _Filter) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[2], _Filter], argnum: Literal[2], filter: _Filter) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[Literal[3], _Filter], argnum: Literal[3], filter: _Filter) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
@overload
def __init__(self: DiffState[int, _Filter], argnum: int, filter: _Filter) -> None: """Names the argument of `grad`, and which of its Variables to differentiate by."""
